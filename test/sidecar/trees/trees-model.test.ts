// Random histories of a repository with linked worktrees: at each rest every row is what a model
// says that asks git itself.

import { spawnSync } from 'node:child_process'
import { test } from 'vitest'
import { inTools, noTools } from '../../support/judges.ts'
import { initializeBare } from './git-folder.ts'
import { idsIn, STATUSES, saveByHand, walk } from './git-history.ts'

test.each([1, 2, 3, 4])(
  'rows are what git says of them, in random history %i',
  (seed) => walk({ seed, steps: 25, save: saveByHand }),
  120_000,
)

test(
  'rows are what git says of them in worktrees of a bare repository',
  () => walk({ seed: 7, steps: 25, make: initializeBare, save: saveByHand }),
  120_000,
)

// It writes whether or not git is in the middle of something, as agents call it.
test.skipIf(noTools !== '').each([5, 6])(
  `rows are what git says of them where Backlog.md itself writes in the trees, in history %i${noTools}`,
  (seed) =>
    walk({
      seed,
      steps: 15,
      save(dir, { next, pick }) {
        const ids = idsIn(dir)
        const isEdit = ids.length > 0 && next() < 0.7
        const edit = ['task', 'edit', isEdit ? pick(ids) : '', '--status', pick(STATUSES)]
        const args = isEdit ? edit : ['task', 'create', 'Another', '--status', pick(STATUSES)]
        const env = { PATH: process.env.PATH, HOME: dir, CI: 'true', NO_COLOR: '1' }
        spawnSync(inTools('node_modules/.bin/backlog'), [...args, '--plain'], { cwd: dir, env })
      },
    }),
  180_000,
)
