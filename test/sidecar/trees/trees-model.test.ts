// Random histories of a repository with linked worktrees: at each rest every row is what a model
// says that asks git itself.

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Seeded } from '../../../tools/harness/seeded.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { inTools, noTools } from '../../support/judges.ts'
import { PATIENT } from '../../support/patience.ts'
import { AS, git, initialize, initializeBare } from '../git/git-folder.ts'
import { PublishedFolder } from '../published-folder.ts'

const MOVED = '-moved'
const STATUSES = ['To Do', 'In Progress', 'Done']
const FOLDER = 'backlog/tasks'
const CONFIG = `project_name: "Tea"
statuses: ["To Do", "In Progress", "Done"]
check_active_branches: false
remote_operations: false
auto_commit: false
`

const textOf = (id: number, status: string) =>
  `---\nid: task-${id}\ntitle: Task ${id}\nstatus: ${status}\n---\n`
const nameOf = (id: number) => `task-${id} - Task-${id}.md`

/** Files of tasks in a folder, by name. */
function filesIn(dir: string): Map<string, string> {
  const folder = join(dir, FOLDER)
  const names = existsSync(folder) ? readdirSync(folder) : []
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** What was asked of git by ids: what it says of these never changes. */
const known = new Map<string, string>()

/** The lines that git says of commits and blobs, which `args` name by their ids. */
function saidOf(dir: string, ...args: string[]): string {
  const question = args.join(' ')
  const said = known.get(question) ?? spawnSync('git', ['-C', dir, ...args]).stdout.toString()
  known.set(question, said)
  return said
}

const linesOf = (dir: string, ...args: string[]): string[] =>
  saidOf(dir, ...args)
    .split('\n')
    .slice(0, -1)

/** Of the main tree and of each worktree, by one process. */
const headsOf = (main: string, trees: readonly string[]): string[] =>
  git(main, 'rev-parse', 'HEAD', ...trees.map((tree) => `worktrees/${tree}/HEAD`)).split('\n')

function filesOf(dir: string, commit: string): Map<string, string> {
  const listed = saidOf(dir, 'ls-tree', '-z', commit, `${FOLDER}/`).split('\0').slice(0, -1)
  return new Map(
    listed.map((line) => {
      const [, blob = '', path = ''] = /^\d+ blob (\w+)\t(.*)$/.exec(line) ?? []
      return [path.slice(FOLDER.length + 1), saidOf(dir, 'cat-file', 'blob', blob)]
    }),
  )
}

const statusIn = (text: string) => /^status: (.*)$/m.exec(text)?.[1] ?? ''
const idIn = (name: string) => /^task-\d+/.exec(name)?.[0].toUpperCase() ?? ''

/** Of each task what the trees make of it; a star where the file is in the middle of a merge. */
function model(
  main: string,
  trees: readonly string[],
  folderOf: (tree: string) => string,
): Record<string, string> {
  const own = filesIn(main)
  const [mainHead = '', ...heads] = headsOf(main, trees)
  const found: Record<string, string[]> = {}
  for (const [at, tree] of trees.entries()) {
    const dir = folderOf(tree)
    const head = heads[at] ?? ''
    const bases = linesOf(main, 'merge-base', '--all', mainHead, head)
    const before = bases.map((base) => filesOf(main, base))
    const wasMerged = merges(main, mainHead, head, bases)
    const files = filesIn(dir)
    const say = (name: string, what: string) => {
      found[idIn(name)] ??= [own.has(name) ? '' : '+']
      found[idIn(name)]?.push(`${tree}: ${what}`)
    }
    for (const [name, text] of files) {
      const isOld = before.some((base) => base.get(name) === text)
      if (own.get(name) === text || isOld || wasMerged(name, text)) continue
      say(name, text.includes('<<<<<<<') ? '*' : statusIn(text))
    }
    for (const name of own.keys()) {
      const isTakenOut = !files.has(name) && before.every((base) => base.has(name))
      if (isTakenOut && !wasMerged(name, undefined)) say(name, 'gone')
    }
  }
  return Object.fromEntries(Object.entries(found).map(([id, says]) => [id, says.join(' ')]))
}

/**
 * Whether a tree has committed a text, or the lack of one, and the main tree has had that since the
 * merge bases, in a commit that is not older than the tree's last one on that file.
 */
function merges(main: string, mainHead: string, head: string, bases: readonly string[]) {
  const commitsOf = (of: string, ...more: string[]) => {
    const since = bases.flatMap((base) => ['--not', base, '--not'])
    const args = ['--first-parent', '--format=%H %ct', of, ...since, ...more]
    return linesOf(main, 'log', ...args).map((line) => line.split(' '))
  }
  const had = commitsOf(mainHead)
  return (name: string, text: string | undefined): boolean => {
    const path = `${FOLDER}/${name}`
    const touching = commitsOf(head, '-m', '--', path)
    const [[, own] = []] = touching
    const isCommitted = filesOf(main, head).get(name) === text
    if (own === undefined || !isCommitted) return false
    return had.some(([commit = '', at]) => {
      const isChanged =
        saidOf(main, 'diff', '--name-only', `${commit}^1`, commit, '--', path) !== ''
      return isChanged && Number(at) >= Number(own) && filesOf(main, commit).get(name) === text
    })
  }
}

function shown(tasks: Record<string, Task>, expected: Record<string, string>) {
  const marked = Object.values(tasks).filter(({ trees }) => trees)
  return Object.fromEntries(
    marked.map(({ id, trees = [], inMain }) => {
      const says = trees.map(({ tree, status, gone }) => {
        const isStar = expected[id]?.includes(`${tree}: *`)
        return `${tree}: ${isStar ? '*' : gone ? 'gone' : status}`
      })
      return [id, [inMain === false ? '+' : '', ...says].join(' ')]
    }),
  )
}

interface History {
  seed: number
  steps: number
  /** Makes a repository of a folder. */
  make?: (dir: string) => void
  /** Changes the board in a tree, in place of the tool. */
  save(dir: string, random: Random): void
}

interface Random {
  /** From 0 to below 1. */
  next(): number
  pick<T>(of: readonly T[]): T
}

/** Takes random steps; at each rest every row is what the model says. */
async function walk({ seed, steps: count, make = initialize, save }: History): Promise<void> {
  const random = new Seeded(seed)
  const next = () => random.next()
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
  const files = [1, 2, 3, 4].map((id) => [`${FOLDER}/${nameOf(id)}`, textOf(id, 'To Do')])
  const board = { ...Object.fromEntries(files), 'backlog/config.yml': CONFIG }
  const folder = await PublishedFolder.open(board, make)
  onTestFinished(() => folder.close())
  const main = folder.dir
  const trees: string[] = []
  /** Of those that were moved, and git was not told. */
  const moved = new Set<string>()
  const copied = new Set<string>()
  const tree = (name: string) => join(main, '..', moved.has(name) ? name + MOVED : name)
  const locked = new Set<string>()
  let made = 0
  const saves = (dir: string) => save(dir, { next, pick })
  const steps: Record<string, (dir: string) => void> = {
    save: saves,
    'save again': saves,
    commit: commitIn,
    add() {
      if (trees.length > 2) return
      const name = `feat-${++made}`
      git(main, 'worktree', 'add', '-q', tree(name), '-b', name)
      trees.push(name)
      trees.sort((one, other) => (one < other ? -1 : 1))
    },
    remove() {
      const name = trees.length > 1 ? trees.shift() : undefined
      if (name && moved.has(name)) git(tree(name), 'worktree', 'repair')
      // Twice: it may be locked.
      if (name) git(main, 'worktree', 'remove', '--force', '--force', tree(name))
    },
    lock() {
      const name = pick(trees)
      const isLocked = locked.delete(name)
      if (!isLocked) locked.add(name)
      tryGit(main, 'worktree', isLocked ? 'unlock' : 'lock', tree(name))
    },
    merge(dir) {
      if (commitIn(dir)) tryGit(dir, 'merge', '-q', '--no-edit', pick(['main', ...trees]))
    },
    rebase(dir) {
      if (dir !== main && commitIn(dir)) tryGit(dir, 'rebase', '-q', 'main')
    },
    'another branch'(dir) {
      if (commitIn(dir)) tryGit(dir, 'checkout', '-q', '-b', `side-${++made}`, `${pick(trees)}~1`)
    },
    back(dir) {
      if (commitIn(dir)) tryGit(dir, 'checkout', '-q', dir === main ? 'main' : basename(dir, MOVED))
    },
    abort: (dir) => void (tryGit(dir, 'rebase', '--abort') || tryGit(dir, 'merge', '--abort')),
    stash: (dir) => void (isBusy(dir) || tryGit(dir, 'stash', '-q')),
    pop: (dir) => void (isBusy(dir) || tryGit(dir, 'stash', 'pop', '-q')),
    squash(dir) {
      const of = pick(trees)
      if (!commitIn(dir) || !tryGit(dir, 'merge', '-q', '--squash', of)) return
      tryGit(dir, 'commit', '-q', '--allow-empty', '-m', `squash ${++made}`)
    },
    'cherry-pick'(dir) {
      if (commitIn(dir) && !tryGit(dir, 'cherry-pick', '--allow-empty', pick(trees)))
        tryGit(dir, 'cherry-pick', '--abort')
    },
    revert(dir) {
      if (commitIn(dir) && !tryGit(dir, 'revert', '--no-edit', 'HEAD'))
        tryGit(dir, 'revert', '--abort')
    },
    // What the main tree took back is no merge of the same text, which the tree commits later.
    'done again'(dir) {
      if (dir === main || !commitIn(dir) || !commitIn(main)) return
      saves(main)
      commitIn(main)
      const done = git(main, 'rev-parse', 'HEAD')
      if (!tryGit(main, 'revert', '--no-edit', done)) tryGit(main, 'revert', '--abort')
      if (!tryGit(dir, 'cherry-pick', done)) tryGit(dir, 'cherry-pick', '--abort')
    },
    'merge of ours'(dir) {
      if (commitIn(dir)) tryGit(dir, 'merge', '-q', '--no-edit', '-s', 'ours', pick(trees))
    },
    move() {
      const name = pick(trees)
      // Of a copy and one that was moved, nobody knows which it is.
      if (copied.has(name)) return
      const from = tree(name)
      if (!moved.delete(name)) moved.add(name)
      renameSync(from, tree(name))
    },
    copy() {
      const name = pick(trees)
      if (moved.has(name)) return
      copied.add(name)
      cpSync(tree(name), join(main, '..', `copy-${++made}`), { recursive: true })
    },
    detach(dir) {
      if (dir !== main && !isBusy(dir)) tryGit(dir, 'checkout', '-q', '--detach')
    },
  }
  const log: string[] = []
  steps.add?.(main)
  for (let step = 0; step < count; step++) {
    for (let more = next() * 3; more >= 0; more--) {
      const name = pick(Object.keys(steps))
      const where = pick(['', ...trees, ...trees])
      log.push(`${name} ${where}`)
      steps[name]?.(where === '' ? main : tree(where))
    }
    const expected = model(main, trees, tree)
    await vi.waitFor(
      async () => expect(shown(await folder.tasks(), expected), log.join('\n')).toEqual(expected),
      PATIENT,
    )
  }
}

/** Each commit is a second later than the one before, as in the days of people. */
let tick = Math.ceil(Date.now() / 1_000)

function tryGit(dir: string, ...args: string[]): boolean {
  const env = { ...process.env, GIT_COMMITTER_DATE: `${++tick} +0000` }
  return spawnSync('git', [...AS, '-C', dir, ...args], { env }).status === 0
}

/** In the middle of a merge or a rebase. */
function isBusy(dir: string): boolean {
  const own = join(dir, '.git')
  const gitFolder = statSync(own).isDirectory() ? own : readFileSync(own, 'utf8').slice(8, -1)
  return ['MERGE_HEAD', 'rebase-merge', 'rebase-apply'].some((name) =>
    existsSync(join(gitFolder, name)),
  )
}

function commitIn(dir: string): boolean {
  if (isBusy(dir)) return false
  tryGit(dir, 'add', '-A')
  return tryGit(dir, 'commit', '-q', '--allow-empty', '-m', 'step')
}

/** As an editor saves, and deletes. */
function saveByHand(dir: string, { next, pick }: Random): void {
  const path = join(dir, FOLDER, nameOf(1 + Math.floor(next() * 6)))
  const id = Number(/task-(\d+) - [^/]*$/.exec(path)?.[1])
  if (existsSync(path) && next() < 0.2) rmSync(path)
  else if (existsSync(join(dir, FOLDER))) writeFileSync(path, textOf(id, pick(STATUSES)))
}

/** Ids of the tasks in a tree, as their tool takes them. */
const idsIn = (dir: string): string[] => [...filesIn(dir).keys()].map(idIn)

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
test.skipIf(noTools !== '')(
  `rows are what git says of them where Backlog.md itself writes in the trees${noTools}`,
  () =>
    walk({
      seed: 5,
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
