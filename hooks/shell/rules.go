package shell

// A rule says under what conditions a program only reads. What no rule names
// changes files.
type rule struct {
	name     string // what a denial calls it
	of       string // the program whose commands these are, "" for programs
	programs string // the programs or commands it is for, separated by blanks; "" for a rule of the language
	why      string // the reason

	deny     string // options with which it writes; long ones count when shortened, too
	value    string // its short options that take a value
	max      int    // operands, one more would be written to; 0: any number, -1: none
	dashes   bool   // it looks for -- before it reads options
	builtin  bool   // only a shell can run it
	state    bool   // it leaves something behind in the shell
	flags    string // allowed short options before a command
	long     string // allowed long options before a command
	own      bool   // only in a folder that an agent can't write
	version  string // options beside --version and --help that print and end
	commands string // commands that only read, separated by commas; "-" stands for none, "$" at the end for no operand
	judge    func(j *judge, c *call)
	check    func(j *judge, c *call) bool // instead: whether it reads

	reads   string // an example that only reads
	changes string // and one that does not
}

// tables holds all rules. It is set in init only because the functions that
// judge a program which runs another one refer to it.
var tables [11][]rule

func init() {
	tables = [...][]rule{language, readers, wrappers, carriers, builtins, writers, gitRules, tools, packages, machine, interpreters}
}

// lookup finds the rule of a program, or of a program's command.
func lookup(of, name string) *rule {
	for _, table := range tables {
		for i := range table {
			if table[i].of == of && allowed(table[i].programs, name) {
				return &table[i]
			}
		}
	}
	return nil
}

// apply judges a call by its rule.
func (r *rule) apply(j *judge, c *call) {
	outer := j.rule
	j.rule, c.rule = r.name, r
	j.state = j.state || r.state
	if !r.pass(j, c) {
		j.changes(c.src)
	}
	j.rule = outer
}

func (r *rule) pass(j *judge, c *call) bool {
	switch {
	case !r.builtin && !r.own && versionOnly(c):
		return true
	case r.judge != nil:
		r.judge(j, c)
		return true
	case r.check != nil:
		return r.check(j, c)
	case r.deny == "" && r.max == 0:
		return true
	}
	c.dashes = r.dashes
	operands, ok := c.options(r.value, func(option string, _ word) bool { return !listed(r.deny, option) })
	n := count(operands)
	return ok && (r.max == 0 || r.max > 0 && n >= 0 && n <= r.max || r.max < 0 && n == 0)
}

// Rule is a row of the table by which commands are judged, as people see it.
type Rule struct {
	Name     string // what Effect.Rule says
	Programs string // the programs it is for, separated by blanks; "" for a rule of the shell's language
	Why      string // its reason
	Reads    string // a command that only reads by it
	Changes  string // and one that changes files
}

// Rules lists all rules.
func Rules() []Rule {
	var all []Rule
	for _, table := range tables {
		for _, r := range table {
			row := Rule{Name: r.name, Programs: r.programs, Why: r.why, Reads: r.reads, Changes: r.changes}
			if r.of != "" {
				row.Programs = r.of + " " + row.Programs
				row.Reads, row.Changes = r.of+" "+r.reads, r.of+" "+r.changes
			}
			all = append(all, row)
		}
	}
	return all
}
