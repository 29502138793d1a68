package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// demanded are the demands that have been met so far.
var demanded = strings.Fields(`D097 D098 D099 D100 D101 D102 D103 D104 D105 D106 D107 D108 D109 D110 D111 D112 D113 D114 D115 D116 D117 D118 D119 D120
	D121 D122 D123 D124 D125 D126 D127 D128 D129 D130 D131 D132 D133 D134 D135 D136 D137 D138 D139 D140 D141 D142 D143 D144
	D145 D146 D147 D148 D149 D150 D151 D152 D153 D154 D155 D156 D157 D158 D159 D160 D161 D162 D163 D164 D165 D166 D167 D168
	D169 D170 D171 D172 D173 D174 D175 D176 D177 D178 D179 D180 D181 D182 D183 D184 D185 D186 D187 D188 D189 D190 D191 D192
	D193 D194 D195 D196 D197 D198 D199 D200 D201 D202 D203 D204 D205 D206 D207 D208 D209 D210 D211 D212 D213 D214 D215 D216
	D217 D218 D219 D220 D221 D222 D223 D224 D225 D226 D227 D228 D229 D230 D231 D232 D233 D234 D235 D236 D237 D238 D239 D240
	D241 D242 D243 D244 D245 D246 D247 D248 D249 D250 D251 D252 D253 D254 D255 D256 D257 D258 D259 D260 D261 D262 D263 D264
	D265 D266 D267 D268 D269 D270 D271 D272 D273 D274 D275 D276 D277 D278 D279 D280 D281 D282 D283 D284 D285 D286 D287 D288
	D289 D290 D291 D292 D293 D294 D295 D296 D297 D298 D299 D300 D301 D302 D303 D304 D305 D306 D308 D309 D310 D311 D312 D313
	D314 D315 D316 D317 D318 D319 D320 D321 D322 D323 D324 D325 D326 D327 D328 D329 D330 D331 D332 D333 D334 D335 D336 D337
	D338 D339 D340 D341 D342`)

var conformanceRow = regexp.MustCompile(`(?m)^\| (D\d+) \| .+ \| (.+) \|$`)

// TestConformance holds docs/conformance.md against the tests that exist.
func TestConformance(t *testing.T) {
	root := filepath.Join("..", "..")
	tests := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".txtar") {
			tests[d.Name()] = true
		}
		if strings.HasSuffix(path, "_test.go") {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range name.FindAllStringSubmatch(string(b), -1) {
				tests[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range conformanceRow.FindAllStringSubmatch(string(doc), -1) {
		rows[m[1]] = true
		for _, test := range strings.Split(m[2], ", ") {
			if !tests[test] {
				t.Errorf("%s names the test %q, which does not exist", m[1], test)
			}
		}
	}
	for _, id := range demanded {
		if !rows[id] {
			t.Errorf("%s has no row", id)
		}
	}
}
