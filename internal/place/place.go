package place

import (
	"fmt"
	"path/filepath"
)

// Place is where a path lies, as far as governing goes. All its paths are real.
type Place struct {
	WorkTree   string // root of the git work tree, "" if there is none
	TreeID     string // "." for the primary work tree, else its name under <common dir>/worktrees
	CommonDir  string // the git common dir, "" if there is none
	RepoKey    string // RepoKey(CommonDir)
	Dir        string // $SATELLE_HOME/<repo-key>
	Registered bool   // Dir holds a ledger
	Root       string // the folder that holds .satelle/satelle.toml, "" if none does
}

// Governed reports whether satelle decides over this place. A place that is
// Registered without a Root is governed too: its tree lost .satelle, or stands
// at a commit from before it.
func (p Place) Governed() bool { return p.Registered || p.Root != "" }

// LedgerPath is where the place's ledger lies, whether or not it exists.
func (p Place) LedgerPath() string { return join(p.Dir, "ledger.db") }

// Marker is the file that makes a folder and all below it governed. It is the
// file and not its folder, since ~/.satelle is $SATELLE_HOME by default and
// must not govern all of a home.
const Marker = ".satelle/satelle.toml"

// Find returns the place that governs path, an absolute path that need not
// exist; home is satelle's machine-wide folder.
//
// It walks up from the path. A repository that is neither registered nor holds
// the marker belongs to the governed place around it, so a `git init` inside
// of a governed tree opens no gap. If nothing governs, the nearest repository
// is described and Governed is false.
func Find(home, path string) (Place, error) {
	real, err := Resolve(path)
	if err != nil {
		return Place{}, err
	}
	return Above(home, real, Place{})
}

// Above is Find for a path that Resolve returned. A place that is known
// already saves the look at its work tree; the zero Place is none.
func Above(home, real string, known Place) (Place, error) {
	var nearest *Place
	root := ""
	for dir := real; ; dir = filepath.Dir(dir) {
		if root == "" && known.Registered && dir == known.WorkTree && (known.Root == "" || known.Root == dir) {
			return known, nil
		}
		if root == "" {
			marked, err := exists(join(dir, Marker))
			if err != nil {
				return Place{}, err
			}
			if marked {
				realHome, err := Resolve(home)
				if err != nil {
					return Place{}, err
				}
				if join(dir, ".satelle") != realHome {
					root = dir
				}
			}
		}
		repo, err := gitAt(dir)
		if err != nil {
			return Place{}, err
		}
		if repo != nil {
			p, err := describe(home, repo)
			if err != nil {
				return Place{}, err
			}
			if repo.forged && p.Registered {
				return Place{}, fmt.Errorf("%s: %w", join(dir, ".git"), ErrForged)
			}
			p.Root = root
			if p.Governed() {
				return p, nil
			}
			if nearest == nil {
				nearest = &p
			}
		}
		if dir == "/" {
			break
		}
	}
	if root != "" {
		return Place{Root: root}, nil
	}
	if nearest != nil {
		return *nearest, nil
	}
	return Place{}, nil
}

func describe(home string, repo *repository) (Place, error) {
	p := Place{
		WorkTree:  repo.workTree,
		TreeID:    repo.treeID,
		CommonDir: repo.commonDir,
		RepoKey:   RepoKey(repo.commonDir),
	}
	p.Dir = join(home, p.RepoKey)
	var err error
	p.Registered, err = exists(p.LedgerPath())
	return p, err
}
