// OpenSpec and BMAD count what is done of a change and of a sprint. We must list just as many, on
// boards of ours, for which their answers are recorded here, on real ones, and after hundreds of
// edits of those. How the tools are found: test/support/judges.ts.

import { hash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ask, copyOf, inTools, noPython, noTools, PYTHON } from '../support/judges.ts'
import { listedBoard } from '../support/listed-board.ts'
import { makeFolder } from '../support/temp-folder.ts'

const { REAL_BOARDS = '' } = process.env
const noBoards =
  noTools || (REAL_BOARDS === '' ? ' (skipped: REAL_BOARDS names no folder of boards)' : '')
const noBmad = noPython('ruamel.yaml')
const SPRINT_PLAN = 'bmm-skills/plan/bmad-sprint-planning/scripts/sprint_plan.py'
const EDITS = 100
/** What differs after an edit does after the next ones, too, and each question is a process. */
const ASKED_EVERY = 10
const PATIENT = 600_000

/** The same numbers in each run. */
function seededRandom(seed: number): () => number {
  let n = 0
  return () => Number.parseInt(hash('sha256', `${seed}:${n++}`, 'hex').slice(0, 12), 16) / 2 ** 48
}

type Counts = Record<string, number | string>
const sorted = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))

// OpenSpec: of each open change with tasks, `done/all`.

async function openSpecHere(dir: string): Promise<Counts> {
  const { tasks } = await listedBoard(dir)
  const open = tasks.filter(({ folder }) => folder === undefined)
  const counts: Counts = {}
  for (const { id, parent } of open) {
    const own = open.filter((task) => task.parent === id)
    const done = own.filter(({ status }) => status === 'done').length
    if (parent === undefined && own.length > 0) counts[id] = `${done}/${own.length}`
  }
  return sorted(counts)
}

interface Change {
  name: string
  completedTasks: number
  totalTasks: number
}

async function openSpecThere(dir: string): Promise<Counts> {
  const out = await ask('node_modules/.bin/openspec', ['list', '--json'], dir)
  const { changes } = JSON.parse(out) as { changes: Change[] }
  const listed = changes.filter(({ totalTasks }) => totalTasks > 0)
  return sorted(
    Object.fromEntries(
      listed.map((change) => [change.name, `${change.completedTasks}/${change.totalTasks}`]),
    ),
  )
}

const ODD_LINES = [
  '- [x] 9.9 Twice',
  '- [x] 9.9 Twice',
  '  * [ X ] nested',
  '12) [] ordered',
  '+ [~] 8.1 marked',
  '- [-] 8.2 marked',
  '- [a](./link.md)',
  '- [1][2]',
  '- [ ](no link)',
  '- [WIP] word',
  '```',
  '\t- [x]tab',
  '- [  ] two spaces',
  '-[x] no space',
  '1234567890. [ ] too many digits',
  '- [x] 7.1 with an end of Windows\r',
  '## 3. Heading',
  '-\u00a0[ ] a space that does not break',
]

const TEA = {
  'openspec/config.yaml': 'schema: spec-driven\n',
  'openspec/changes/tea/proposal.md': '# Tea\n',
  'openspec/changes/tea/tasks.md': `## 1. Pot\n${ODD_LINES.join('\n')}\n`,
  'openspec/changes/jam/proposal.md': '# Jam\n',
  'openspec/changes/bun/tasks.md': '- [x] 1.1 Bake\r\n- [x] 1.2 Eat\r\n',
  'openspec/changes/archive/2026-01-01-old/tasks.md': '- [ ] 1.1 Old\n',
}
const TEA_COUNTS = { bun: '2/2', tea: '6/12' }

/** One edit that people and agents make, of a copy: each state of each folder is there in the end. */
async function editOpenSpec(dir: string, random: () => number, n: number): Promise<void> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const changes = join(dir, 'openspec/changes')
  const names = (await readdir(changes)).filter((name) => name !== 'archive')
  const from = pick(names.toSorted((a, b) => (a < b ? -1 : 1)))
  const change = join(changes, `${from}-e${n}`)
  await cp(join(changes, from), change, { recursive: true })
  const file = join(change, 'tasks.md')
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const at = Math.floor(random() * lines.length)
  const kind = random()
  if (kind < 0.05) return rm(file, { force: true })
  if (kind < 0.1) {
    await mkdir(join(changes, 'archive'), { recursive: true })
    return rename(change, join(changes, `archive/2026-03-03-${random()}`))
  }
  if (kind < 0.5) {
    const mark = pick([' ', 'x', 'X', '~', '-', '', '/', 'xx'])
    lines[at] = (lines[at] ?? '').replace(/\[[^\]]?\]/, `[${mark}]`)
  } else if (kind < 0.6) lines.splice(at, 1)
  else if (kind < 0.7) lines.reverse()
  else if (kind < 0.75) return writeFile(file, lines.join('\r\n'))
  else lines.splice(at, 0, pick(ODD_LINES))
  await writeFile(file, lines.join('\n'))
}

// BMAD: how many epics, stories and retrospectives have which status.

async function bmadHere(dir: string): Promise<Counts> {
  const { tasks } = await listedBoard(dir)
  const counts: Counts = {}
  for (const { type = 'unrecognized', status, invalid } of tasks) {
    // The tool does not look for stories that the sprint does not name.
    if (invalid?.includes('names no such story')) continue
    const name = type === 'unrecognized' ? type : invalid ? 'illegal' : `${type} ${status}`
    counts[name] = Number(counts[name] ?? 0) + 1
  }
  return sorted(counts)
}

const BMAD_FILE = '_bmad-output/implementation-artifacts/sprint-status.yaml'

async function bmadThere(dir: string): Promise<Counts> {
  const script = inTools(`node_modules/bmad-method/src/${SPRINT_PLAN}`)
  const out = await ask(PYTHON, [script, 'status', '--status-file', join(dir, BMAD_FILE)], dir)
  const answer = JSON.parse(out) as Record<string, Record<string, number> & unknown[]>
  const named = (type: string, counts: Record<string, number> = {}) =>
    Object.entries(counts).map(([status, count]) => [`${type} ${status}`, count])
  const odd = ['illegal', 'unrecognized'].map((name) => [name, answer[name]?.length ?? 0])
  return sorted(
    Object.fromEntries([
      ...named('story', answer.stories),
      ...named('epic', answer.epics),
      ...named('retrospective', answer.retrospectives),
      ...odd.filter(([, count]) => count !== 0),
    ]) as Counts,
  )
}

const SPRINT = {
  '_bmad/_config/manifest.yaml': 'modules: []\n',
  [BMAD_FILE]: `development_status:
  # Epic 1: Tea
  epic-1: in-progress
  1-1-fill: done
  1-2a-heat: drafted # older
  1-2b-pour: contexted
  1-3-drink: 'review'
  1-4-wash: Done
  2-1-bake: backlog
  epic-1-retrospective: optional
  epic-2: review
  notes: done
`,
}
const SPRINT_COUNTS = {
  'epic in-progress': 1,
  illegal: 2,
  'retrospective optional': 1,
  'story backlog': 1,
  'story done': 1,
  'story in-progress': 1,
  'story ready-for-dev': 1,
  'story review': 1,
  unrecognized: 1,
}

/** One change of a sprint's status file. The tool reads no file in which a key stands twice. */
async function editBmad(dir: string, random: () => number, n: number): Promise<void> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const file = join(dir, BMAD_FILE)
  const lines = (await readFile(file, 'utf8')).split('\n')
  const keys = lines.flatMap((line, at) => (/^ {2}[a-z0-9].*: ?\S/.test(line) ? [at] : []))
  const at = pick(keys)
  // biome-ignore format: several names a line.
  const status = pick([
    'backlog', 'ready-for-dev', 'in-progress', 'review', 'done', 'optional', 'drafted', 'contexted',
    'Done', 'doing', '"done"',
  ])
  const kind = random()
  if (kind < 0.7) lines[at] = (lines[at] ?? '').replace(/: .*/, `: ${status}`)
  else if (kind < 0.8) lines.splice(at + 1, 0, `  ${n}-1${pick(['', 'b'])}-new-story: ${status}`)
  else if (kind < 0.9) lines.splice(at + 1, 0, `  ${pick(['epic', 'note'])}-${n}00: ${status}`)
  else lines.splice(at, 1, `  # ${lines[at]?.trim()}`)
  await writeFile(file, lines.join('\n'))
}

describe('what is counted', () => {
  it('on a board of OpenSpec is what the tool answered', async () => {
    expect(await openSpecHere(makeFolder(TEA))).toEqual(TEA_COUNTS)
  })

  it('on a board of BMAD is what the tool answered', async () => {
    expect(await bmadHere(makeFolder(SPRINT))).toEqual(SPRINT_COUNTS)
  })
})

describe.skipIf(noTools !== '')(`OpenSpec itself${noTools}`, () => {
  it('counts what is recorded here', async () => {
    expect(await openSpecThere(makeFolder(TEA))).toEqual(TEA_COUNTS)
  })
})

describe.skipIf(noBmad !== '')(`BMAD itself${noBmad}`, () => {
  it('counts what is recorded here', async () => {
    expect(await bmadThere(makeFolder(SPRINT))).toEqual(SPRINT_COUNTS)
  })
})

describe.skipIf(noBoards !== '')(`OpenSpec on a real board${noBoards}`, () => {
  it('counts as we do, after each of hundreds of edits, too', { timeout: PATIENT }, async () => {
    const dir = await copyOf(join(REAL_BOARDS, 'openspec'))
    const random = seededRandom(21)
    expect(Object.keys(await openSpecHere(dir)).length).toBeGreaterThan(10)
    for (let n = 0; n < 3 * EDITS; n++) await editOpenSpec(dir, random, n)
    expect(await openSpecHere(dir)).toEqual(await openSpecThere(dir))
  })
})

const noSprint = noBoards || noBmad
describe.skipIf(noSprint !== '')(`BMAD on a real board${noSprint}`, () => {
  it('counts as we do, after each ten of a hundred edits, too', { timeout: PATIENT }, async () => {
    const dir = await copyOf(join(REAL_BOARDS, 'bmad'))
    const random = seededRandom(21)
    const first = await bmadHere(dir)
    expect(first).toMatchObject({ 'story done': 112, 'story review': 1, 'story backlog': 3 })
    for (let n = 0; n <= EDITS; n++) {
      if (n % ASKED_EVERY === 0)
        expect(await bmadHere(dir), `after ${n} edits`).toEqual(await bmadThere(dir))
      await editBmad(dir, random, 100 + n)
    }
  })
})
