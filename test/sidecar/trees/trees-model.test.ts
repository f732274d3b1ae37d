// Random histories of a repository with linked worktrees: at each rest every row is what a model
// says that asks git itself.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { randomFrom } from '../../../tools/bench/statistics.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { PATIENT } from '../../support/patience.ts'
import { PublishedFolder } from '../published-folder.ts'
import { git, initialize } from './git-folder.ts'

const STATUSES = ['To Do', 'In Progress', 'Done']
const TASKS = 'backlog/tasks'
const STEPS = 25

const textOf = (id: number, status: string) =>
  `---\nid: task-${id}\ntitle: Task ${id}\nstatus: ${status}\n---\n`
const nameOf = (id: number) => `task-${id} - Task-${id}.md`

/** Files of tasks in a folder, by name. */
function filesIn(dir: string): Map<string, string> {
  const folder = join(dir, TASKS)
  const names = existsSync(folder) ? readdirSync(folder) : []
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function filesOf(dir: string, commit: string): Map<string, string> {
  const listed = git(dir, 'ls-tree', '-z', '--name-only', commit, `${TASKS}/`)
  const paths = listed.split('\0').filter((path) => path !== '')
  return new Map(
    paths.map((path) => [
      path.slice(TASKS.length + 1),
      `${git(dir, 'show', `${commit}:${path}`)}\n`,
    ]),
  )
}

const statusIn = (text: string) => /^status: (.*)$/m.exec(text)?.[1] ?? ''
const idIn = (name: string) => /^task-\d+/.exec(name)?.[0].toUpperCase() ?? ''

/** Of each task what the trees make of it; a star where the file is in the middle of a merge. */
function model(main: string, trees: readonly string[]): Record<string, string> {
  const own = filesIn(main)
  const found: Record<string, string[]> = {}
  for (const tree of trees) {
    const dir = join(main, '..', tree)
    const head = git(dir, 'rev-parse', 'HEAD')
    const bases = git(main, 'merge-base', '--all', 'HEAD', head).split('\n')
    const before = bases.map((base) => filesOf(main, base))
    const files = filesIn(dir)
    const say = (name: string, what: string) => {
      found[idIn(name)] ??= [own.has(name) ? '' : '+']
      found[idIn(name)]?.push(`${tree}: ${what}`)
    }
    for (const [name, text] of files) {
      const isOld = before.some((base) => base.get(name) === text)
      if (own.get(name) === text || isOld) continue
      say(name, text.includes('<<<<<<<') ? '*' : statusIn(text))
    }
    for (const name of own.keys()) {
      if (!files.has(name) && before.every((base) => base.has(name))) say(name, 'gone')
    }
  }
  return Object.fromEntries(Object.entries(found).map(([id, says]) => [id, says.join(' ')]))
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

test.each([1, 2, 3, 4])(
  'rows are what git says of them, in random history %i',
  async (seed) => {
    const random = randomFrom(seed)
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
    const files = Object.fromEntries(
      [1, 2, 3, 4].map((id) => [`${TASKS}/${nameOf(id)}`, textOf(id, 'To Do')]),
    )
    const config = 'project_name: "Tea"\nstatuses: ["To Do", "In Progress", "Done"]\n'
    const folder = await PublishedFolder.open(
      { ...files, 'backlog/config.yml': config },
      initialize,
    )
    onTestFinished(() => folder.close())
    const main = folder.dir
    const trees: string[] = []
    const tryGit = (dir: string, ...args: string[]) =>
      spawnSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args]).status ===
      0
    const isBusy = (dir: string) =>
      ['MERGE_HEAD', 'rebase-merge', 'rebase-apply'].some((name) =>
        existsSync(git(dir, 'rev-parse', '--path-format=absolute', '--git-path', name)),
      )
    const save = (dir: string) => {
      const id = 1 + Math.floor(random() * 6)
      const path = join(dir, TASKS, nameOf(id))
      if (existsSync(path) && random() < 0.2) rmSync(path)
      else if (existsSync(join(dir, TASKS))) writeFileSync(path, textOf(id, pick(STATUSES)))
    }
    let made = 0
    const steps: Record<string, (dir: string) => void> = {
      save,
      'save again': save,
      commit: (dir) => void (isBusy(dir) || (tryGit(dir, 'add', '-A') && commitQuietly(dir))),
      add() {
        if (trees.length > 2) return
        const name = `feat-${++made}`
        git(main, 'worktree', 'add', '-q', `../${name}`, '-b', name)
        trees.push(name)
        trees.sort((one, other) => (one < other ? -1 : 1))
      },
      remove() {
        const name = trees.length > 1 ? trees.shift() : undefined
        if (name) git(main, 'worktree', 'remove', '--force', `../${name}`)
      },
      merge(dir) {
        if (isBusy(dir)) return
        git(dir, 'add', '-A')
        commitQuietly(dir)
        tryGit(dir, 'merge', '-q', '--no-edit', pick(['main', ...trees]))
      },
      rebase(dir) {
        if (dir === main || isBusy(dir)) return
        git(dir, 'add', '-A')
        commitQuietly(dir)
        tryGit(dir, 'rebase', '-q', 'main')
      },
      abort: (dir) => void (tryGit(dir, 'rebase', '--abort') || tryGit(dir, 'merge', '--abort')),
      stash: (dir) => void (isBusy(dir) || tryGit(dir, 'stash', '-q')),
      pop: (dir) => void (isBusy(dir) || tryGit(dir, 'stash', 'pop', '-q')),
      detach: (dir) =>
        void (dir !== main && !isBusy(dir) && tryGit(dir, 'checkout', '-q', '--detach')),
    }
    function commitQuietly(dir: string) {
      tryGit(dir, 'commit', '-q', '--allow-empty', '-m', 'step')
    }
    const log: string[] = []
    steps.add?.(main)
    for (let step = 0; step < STEPS; step++) {
      for (let more = random() * 3; more >= 0; more--) {
        const name = pick(Object.keys(steps))
        const tree = pick(['', ...trees, ...trees])
        log.push(`${name} ${tree}`)
        steps[name]?.(tree === '' ? main : join(main, '..', tree))
      }
      const expected = model(main, trees)
      await vi.waitFor(
        async () => expect(shown(await folder.tasks(), expected), log.join('\n')).toEqual(expected),
        PATIENT,
      )
    }
  },
  120_000,
)
