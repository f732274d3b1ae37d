// What was recorded of real boards leaves no mark of a deletion: each step is a commit in a real
// repository, found by a real sidecar, and minutes after the one before by the clock of the edge.
//
// `fixtures/recorded-boards.json` has what the tools wrote down of three public boards: each status
// of each task and its hour in Cairn's own, the day on which each change of OpenSpec's own was
// archived and how much of it was done, and of the thirty busiest days of Backlog.md's own which
// tasks were created and which last changed, to which status and folder. Names and texts are ours.

import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import type { Activity } from '../../libraries/api/types.ts'
import type { Task } from '../../worker/board/wire.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { PATIENT } from '../support/patience.ts'
import { commitAll, initialize } from './git/git-folder.ts'
import { type Files, PublishedFolder } from './published-folder.ts'

const RECORDED: Readonly<Record<string, string[]>> = JSON.parse(
  readFileSync(new URL('../fixtures/recorded-boards.json', import.meta.url), 'utf8'),
)
/** Longer than what is deleted has to stand, and than what a switch explains. */
const STEP_MS = 180_000

/** What became of a task, or of a change with its tasks. */
interface Step {
  when: string
  name: string
  what: string
}

interface Player {
  /** Before the first step. */
  first(steps: readonly Step[]): Files
  play(folder: PublishedFolder, step: Step): void
  /** The task, and its folder or else its status after that. */
  shown(step: Step): [id: string, text: string]
  /** The file of an open task that nothing was recorded of, and its id. */
  open: { file: string; text: string; id: string }
}

const cairnText = (name: string, status: string) =>
  `---\ntitle: Cup ${name}\nstatus: ${status}\n---\n`
const cairn: Player = {
  first: () => ({
    '.cairn/config.yaml':
      'prefix: TEA\nstates: [backlog, in_progress, in_review, done, canceled]\n' +
      'closed: [done, canceled]\ninitial: backlog\n',
  }),
  play: (folder, { name, what }) =>
    folder.write(`.cairn/tasks/TEA-${name}.md`, cairnText(name, what)),
  shown: ({ name, what }) => [`TEA-${name}`, what],
  open: { file: '.cairn/tasks/TEA-999.md', text: cairnText('999', 'backlog'), id: 'TEA-999' },
}

/** Of `12/13`: so many of its tasks were done when the change was archived. */
function boxes(what: string, isBefore = false): string {
  const [done = 0, all = 0] = what.split('/').map(Number)
  const mark = (n: number) => (n <= done && !isBefore ? 'x' : ' ')
  return Array.from({ length: all }, (_, n) => `- [${mark(n + 1)}] 1.${n + 1} Pour ${n}\n`).join('')
}
const openspec: Player = {
  first: (steps) =>
    Object.fromEntries(
      steps.map(({ name, what }) => [`openspec/changes/tea-${name}/tasks.md`, boxes(what, true)]),
    ),
  play(folder, { when, name, what }) {
    const change = `openspec/changes/tea-${name}`
    folder.write(`${change}/tasks.md`, boxes(what))
    folder.move(change, `openspec/changes/archive/${when}-tea-${name}`)
  },
  shown: ({ name }) => [`tea-${name}/1.1`, 'archive'],
  open: { file: 'openspec/changes/milk/tasks.md', text: boxes('0/1'), id: 'milk/1.1' },
}

const STATUS: Readonly<Record<string, string>> = { done: 'Done', begun: 'In Progress' }
const backlogText = (name: string, status = 'To Do') =>
  `---\nid: BACK-${name}\ntitle: Bread ${name}\nstatus: ${status}\n---\nFlour.\n`
const backlogFile = (name: string, folder = 'tasks') =>
  `backlog/${folder}/back-${name} - Bread-${name}.md`
/** Such as `done/completed`: the status, and the folder that it went to. */
const backlogStep = (what: string) => {
  const [status = '', folder] = what.split('/')
  return { status: STATUS[status] ?? 'To Do', folder }
}
const backlogMd: Player = {
  first: (steps) => ({
    'backlog/config.yml':
      'project_name: Bakery\ntask_prefix: back\nstatuses: ["To Do", "In Progress", "Done"]\n',
    ...Object.fromEntries(
      [...Map.groupBy(steps, ({ name }) => name)]
        .filter(([, [first]]) => first?.what !== 'new')
        .map(([name]) => [backlogFile(name), backlogText(name)]),
    ),
  }),
  play(folder, { name, what }) {
    const step = backlogStep(what)
    folder.write(backlogFile(name), backlogText(name, step.status))
    if (step.folder) folder.move(backlogFile(name), backlogFile(name, step.folder))
  },
  shown({ name, what }) {
    const { status, folder } = backlogStep(what)
    return [`BACK-${name}`, folder ?? status]
  },
  open: { file: backlogFile('999'), text: backlogText('999'), id: 'BACK-999' },
}

const PLAYERS: Readonly<Record<string, Player>> = { cairn, openspec, 'backlog-md': backlogMd }

let opened: PublishedFolder | undefined
afterEach(() => opened?.close())

describe.each(Object.entries(PLAYERS))('what was recorded of a board of %s', (layout, player) => {
  it('leaves no mark of a deletion commit by commit, and what is deleted after it has one', async () => {
    const commits = (RECORDED[layout] ?? []).map((line) => {
      const [when = '', all = ''] = line.split(': ')
      return all.split(' ').map((one): Step => {
        const [name = '', what = ''] = one.split('=')
        return { when, name, what }
      })
    })
    let aheadMs = 0
    const clock = { ...hostClock, now: () => hostClock.now() + aheadMs }
    const { file, text, id } = player.open
    const files = { ...player.first(commits.flat()), [file]: text }
    const folder = await PublishedFolder.open(files, initialize, clock)
    opened = folder
    for (const commit of commits) {
      for (const step of commit) player.play(folder, step)
      commitAll(folder.dir)
      for (const step of commit) {
        const [task, shown] = player.shown(step)
        const read = async () => {
          const found = await folder.json<Task>(`/tasks/${encodeURIComponent(task)}`)
          return found.folder ?? found.status
        }
        await expect.poll(() => read().catch(() => 'not there'), PATIENT).toBe(shown)
      }
      aheadMs += STEP_MS
    }
    const marked = async () => {
      const { activity } = await folder.json<Activity>('/activity?kind=deleted&limit=1000')
      return activity.flatMap((row) => (row.marks ? [row.task] : []))
    }
    expect(await marked()).toEqual([])
    folder.remove(file)
    await expect.poll(async () => (await folder.tasks())[id], PATIENT).toBeUndefined()
    aheadMs += STEP_MS
    expect(await marked()).toContain(id)
  }, 300_000)
})
