// Boards as people, tools and half-done merges leave them, from a seed. Each is a set of files, and
// for the tools that have no command line what a reader must find in it.

import { hash } from 'node:crypto'

export type Files = Record<string, string | Uint8Array>

/** What must be listed: id → its status, or that its row says what is wrong. */
export interface Expected {
  status?: string
  ready?: boolean
  isInvalid?: boolean
}

export class Dice {
  readonly #seed: string
  #n = 0

  constructor(seed: string) {
    this.#seed = seed
  }

  next(): number {
    const digits = hash('sha256', `${this.#seed}:${this.#n++}`, 'hex').slice(0, 12)
    return Number.parseInt(digits, 16) / 2 ** 48
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  count(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T
  }
}

const WORDS = [
  'Fill',
  'Heat "it"',
  "Mira's tea",
  '注ぐ',
  'Ünïcode ✅',
  '[x] odd',
  '`code`',
  'a: b',
  '#1',
]
const NAMES = [
  'tea',
  'jam',
  '2026-01-01-bun',
  'Größe',
  'with space',
  "it's",
  'a.b',
  '紅茶',
  '__proto__',
]
const MARKS = [' ', 'x', 'X', '', '~', '-', '?', ' x ', 'xx', '  ']
const CONFLICT = '<<<<<<< HEAD\n- [ ] 8.1 Ours\n=======\n- [x] 8.1 Theirs\n>>>>>>> main\n'

/** As other editors and systems save it. */
function encoded(dice: Dice, text: string): string {
  const lines = dice.chance(0.2) ? text.replaceAll('\n', '\r\n') : text
  return dice.chance(0.1) ? `\ufeff${lines}` : lines
}

/** Half of it, as it is while it is written. */
const cut = (dice: Dice, text: string): string =>
  dice.chance(0.1) ? text.slice(0, Math.floor(text.length * dice.next())) : text

function checklist(dice: Dice): string {
  const lines = Array.from({ length: dice.count(0, 8) }, () => {
    const bullet = dice.pick(['-', '*', '+', '1.', '2)', '-  ', '\t-', '  -', 'x'])
    const number = dice.pick(['', '1.1 ', '1.2 ', '**1.3** ', 'T001 ', '1.1. '])
    return dice.pick([
      `${bullet} [${dice.pick(MARKS)}] ${number}${dice.pick(WORDS)}`,
      `${bullet} [${dice.pick(MARKS)}]${dice.pick(WORDS)}`,
      '## 2. Group',
      '```',
      'text',
      '',
      `- [a](./${dice.pick(NAMES)}.md)`,
    ])
  })
  return `${lines.join('\n')}\n${dice.chance(0.1) ? CONFLICT : ''}`
}

export function openSpecBoard(dice: Dice): Files {
  const files: Files = { 'openspec/config.yaml': 'schema: spec-driven\n' }
  const names = NAMES.filter(() => dice.chance(0.5))
  for (const name of names) {
    const at = `openspec/changes/${name}`
    const list = cut(dice, encoded(dice, checklist(dice)))
    if (dice.chance(0.7)) files[`${at}/tasks.md`] = list
    if (dice.chance(0.4)) files[`${at}/proposal.md`] = encoded(dice, `# ${dice.pick(WORDS)}\n`)
    if (dice.chance(0.2)) files[`${at}/.openspec.yaml`] = cut(dice, 'schema: spec-driven\n')
    if (dice.chance(0.2)) files[`${at}/specs/pot/spec.md`] = '## ADDED Requirements\n'
    if (dice.chance(0.2)) files[`${at}/.gitkeep`] = ''
    if (dice.chance(0.1)) files[`${at}/deep/inner/tasks.md`] = '- [ ] 1.1 Inner\n'
    if (dice.chance(0.1)) files[`openspec/changes/archive/2026-02-02-${name}/tasks.md`] = list
  }
  if (!dice.chance(0.3)) return files
  const generates = dice.pick(['todo.md', 'plan/todo.md', 'plan/*.md', '**/todo.md'])
  files['openspec/config.yaml'] = 'schema: mine\n'
  files['openspec/schemas/mine/schema.yaml'] = cut(
    dice,
    `name: mine\nversion: 1\nartifacts:\n  - id: tasks\n    generates: "${generates}"\n    description: d\n    template: t.md\n`,
  )
  for (const name of names) {
    if (dice.chance(0.5)) files[`openspec/changes/${name}/todo.md`] = checklist(dice)
    if (dice.chance(0.5)) files[`openspec/changes/${name}/plan/todo.md`] = checklist(dice)
  }
  return files
}

export function bmadBoard(dice: Dice): { files: Files; statusFile: string } {
  const [tool, folder, config] = dice.pick([
    ['_bmad/_config', '_bmad-output/implementation-artifacts', ''],
    ['.bmad/_cfg', 'docs/sprints', "sprint_artifacts: '{project-root}/docs/sprints'\n"],
    ['.bmad/_cfg', 'out', "output_folder: '{project-root}/out'\n"],
    ['bmad/_cfg', 'docs', 'output_folder: docs\n'],
  ] as const)
  const statuses = ['backlog', 'ready-for-dev', 'in-progress', 'review', 'done', 'optional']
  const odd = [
    'drafted',
    'contexted',
    'completed',
    'Done',
    '"done"',
    "'review'",
    '',
    '~',
    '7',
    '[done]',
  ]
  const keys = new Set<string>()
  for (let n = dice.count(1, 10); n > 0; n--) {
    const [epic, story] = [dice.count(1, 3), dice.count(1, 12)]
    const kinds = [`epic-${epic}`, `epic-${epic}-retrospective`, `${epic}-${story}-fill-it`]
    keys.add(dice.pick([...kinds, `${epic}-${story}b-größe`, `${epic}-${story}`, 'notes', '1']))
  }
  const lines = [...keys].map((key) => {
    const picked = dice.pick(dice.chance(0.7) ? statuses : odd)
    // Only older versions of the tool write it, and we read those too.
    const isOlder = picked === 'completed' && key.endsWith('retrospective')
    const status = isOlder ? 'done' : picked
    return `  ${key}: ${status}${dice.chance(0.2) ? '  # soon' : ''}\n`
  })
  const text = `project: "Mira's tea"\ndevelopment_status:\n${lines.join('')}`
  const statusFile = `${folder}/sprint-status.yaml`
  const conflict = '<<<<<<< HEAD\n  1-1-a: done\n=======\n  1-1-a: review\n>>>>>>> main\n'
  const files: Files = {
    [`${tool}/manifest.yaml`]: 'modules: []\n',
    [`${tool.split('/')[0]}/bmm/config.yaml`]: `project_name: tea\n${config}`,
    [statusFile]: `${cut(dice, encoded(dice, text))}${dice.chance(0.1) ? conflict : ''}`,
  }
  return { files, statusFile }
}

/** All in one file: the tool takes seconds to start. */
export function taskMasterBoard(dice: Dice): Files {
  const statuses = ['pending', 'in-progress', 'done', 'deferred', 'cancelled', 'blocked', 'review']
  const tags = Array.from({ length: 12 }, (_, at) => {
    const count = dice.count(0, 6)
    const tasks = Array.from({ length: count }, (_, index) => ({
      id: dice.chance(0.2) ? String(index + 1) : index + 1,
      title: dice.pick(WORDS),
      description: 'What it is.',
      status: dice.pick(statuses),
      priority: dice.pick(['low', 'medium', 'high', 'critical']),
      dependencies: dice.pick([[], null, [dice.count(1, 7)], [String(dice.count(1, 7))]]),
      subtasks: dice.pick([null, [], [{ id: 1, title: 'Sub', status: 'pending' }]]),
    }))
    return [`${dice.pick(['tag', 'größe', 'a b'])}-${at}`, { tasks }] as const
  })
  const older = [{ id: 1, title: 'Old', status: 'pending', priority: 'low', dependencies: [] }]
  const root = dice.chance(0.5) ? { tasks: older } : {}
  return {
    '.taskmaster/tasks/tasks.json': JSON.stringify({ ...root, ...Object.fromEntries(tags) }),
  }
}

const PROJECTS = [
  'project_name: "Mira\'s "best" tea"',
  'project_name: "C:\\Users\\mira\\tea"',
  "project_name: 'it's'",
  'project_name: a: b # c',
  '\tproject_name: "Tea"',
  'project_name: [tea',
  '',
]
const STATUSES = [
  'statuses: ["To Do", "In Progress", "Done"]',
  "statuses: ['To Do', ' In Progress ', Done]  # ours",
  'statuses:\n  - To Do\n  - "In Progress"\n  - Done',
  'statuses: [\n  "To Do",\n  "In Progress",\n  "Done"\n]',
  `statuses: ["To Do", 'Wait: long', "Shipped it"]`,
  'statuses: [" Done ", "To Do"]',
  'statuses: []',
  'statuses:',
  'statuses: ["To Do", "Done"',
  'statuses: To Do, Done',
  '',
]
const OTHER_KEYS = [
  'default_status: "To Do"',
  '\tdefault_status: To Do',
  'labels: ["a", "b"]',
  'labels: ["a", "b"',
  'milestones: []',
  'date_format: yyyy-mm-dd',
  'windows: "C:\\new"',
  'definition_of_done: ["Say "done""]',
  '# status: none',
]

function backlogConfig(dice: Dice, prefix: string): string {
  const lines = [dice.pick(PROJECTS), dice.pick(dice.chance(0.5) ? STATUSES.slice(0, 6) : STATUSES)]
  if (prefix !== 'task') lines.push(`task_prefix: ${dice.pick([prefix, `"${prefix}"`])}`)
  for (const line of OTHER_KEYS) {
    const isBroken = line.startsWith('labels: ["a", "b"') && !line.endsWith(']')
    if (dice.chance(isBroken ? 0.05 : 0.2)) lines.push(line)
  }
  return dice.chance(0.2) ? `${lines.join('\r\n')}\r\n` : `${lines.join('\n')}\n`
}

/** A line of `dependencies`, in the spellings that people and tools use. */
function dependencies(dice: Dice, id: string): string {
  const number = id.slice(id.indexOf('-') + 1)
  const small = id.toLowerCase()
  return dice.pick([
    `dependencies: [${id}]`,
    `dependencies: [${number}]`,
    `dependencies: ["${number}"]`,
    `dependencies: ['${small}']`,
    `dependencies: [" ${id} "]`,
    `dependencies: ${id}`,
    `dependencies: "${small}"`,
    `dependencies: ${number}`,
    `dependencies:\n  - ${small}`,
    `dependencies:\n- "${id}"`,
    `dependencies:\n  - ${small.replace('-', '-0')}`,
    `dependencies: [${id}, ${id}]`,
    `dependencies: [null, ${id}]`,
    `dependencies: "${id}, ${id}"`,
    `Dependencies: [${id}]`,
  ])
}

const PEOPLE = [
  'assignee: @mira',
  'assignee: [@mira, "@tom"]',
  "assignee:\n  - '@mira'\n  - tom",
  'assignee: `mira`',
  'assignee: @mira: the lead',
  'assignee: {a: b}',
  'assignee: ["@mira", @tom] # both',
  'assignee: %x',
  'assignee: []',
  'assignee: "@mira',
  'assignee: [@mira',
  'reporter: @tom',
]

/**
 * `copied`: the files of an id that has two, first the one that the tool would name so. `broken`:
 * files that cannot be read, of which the tool takes two for one task.
 */
export function backlogBoard(dice: Dice) {
  const prefix = dice.pick(['task', 'task', 'task', 'back', 'tea'])
  const files: Files = { 'backlog/config.yml': backlogConfig(dice, prefix) }
  const broken = new Set<string>()
  const copied = new Map<string, string[]>()
  const numbers = ['1', '2', '3', '4', '5', '6', '7', '7.1', '7.12', '8a', 'b9', '10', '11', '12']
  for (const number of numbers.filter(() => dice.chance(0.8))) {
    const id = `${prefix.toUpperCase()}-${number.toUpperCase()}`
    const named = `${prefix}-${number}`
    const written = dice.pick([id, id, id, named, `"${id}"`, `' ${id} '`, number])
    // biome-ignore format: several names a line.
    const status = dice.pick([
      'To Do', 'In Progress', 'Done', 'Done', '"Done"', 'done', "' Done '", 'DONE', 'Shipped it',
      'Waiting', '"Wait: long"', '7', '', 'null', '[Done]', 'Done # yes',
    ])
    const lines = [`id: ${written}`, `title: ${JSON.stringify(dice.pick(WORDS))}`]
    if (dice.chance(0.9)) lines.push(`status: ${status}`)
    const other = `${prefix.toUpperCase()}-${dice.pick(numbers).toUpperCase()}`
    if (dice.chance(0.4)) lines.push(dependencies(dice, other))
    if (dice.chance(0.3)) lines.push(dice.pick(PEOPLE))
    const text = `---\n${lines.join('\n')}\n---\n\nText.\n`
    const odd = dice.pick([
      text.slice(0, 12),
      text.replace('---\n\nText', '\n\nText'),
      text.replace('status:', '<<<<<<< HEAD\nstatus:'),
      text.replace('title:', '\ttitle:'),
      text.replace('title:', 'title: "open\nold:'),
      text.replace(/^---\n/, ''),
      text.replace(`id: ${written}\n`, ''),
      text.replace('title:', 'title: one\ntitle:'),
      '',
    ])
    const folder = dice.pick(['tasks', 'tasks', 'tasks', 'tasks', 'completed', 'drafts'])
    const title = dice.pick([' - Fill', ' - Größe', " - it's", ' - a.b', ' - 紅茶', '_x y', ''])
    const path = `backlog/${folder}/${folder === 'drafts' ? `draft-${number}` : named}`
    const kind = dice.next()
    if (kind < 0.15) {
      files[`${path}${title}.md`] = encoded(dice, odd)
      // Without a status, say, a mark beside it changes nothing.
      if (odd !== text) broken.add(`${path}${title}.md`)
    } else if (kind < 0.25 && folder === 'tasks') {
      const original = `---\nid: ${id}\ntitle: Fill\nstatus: ${status}\n---\n`
      files[`${path} - Fill.md`] = encoded(dice, original)
      const copy = dice.pick([' (conflicted copy 2026-01-01)', ' 2', '-DESKTOP', ' (1)'])
      files[`${path} - Fill${copy}.md`] = encoded(dice, original.replace('Fill', 'Copied'))
      copied.set(id, [`${path} - Fill.md`, `${path} - Fill${copy}.md`])
    } else files[`${path}${title}.md`] = encoded(dice, text)
  }
  if (dice.chance(0.3)) files['backlog/tasks/notes.md'] = '# Notes\n'
  return { files, broken, copied }
}

/** A board of Kiro or spec-kit. What must be listed follows from how it is built. */
export function listBoard(dice: Dice, layout: 'kiro' | 'spec-kit') {
  const files: Files = layout === 'kiro' ? { '.kiro/steering/a.md': '' } : { '.specify/a': '' }
  const expected = new Map<string, Expected>()
  for (const name of NAMES.filter((each) => each !== '__proto__' && dice.chance(0.5))) {
    const closed = new Map<string, boolean>()
    const lines: string[] = []
    for (let n = dice.count(1, 8); n > 0; n--) {
      const number = layout === 'kiro' ? `${dice.count(1, 5)}` : `T00${dice.count(1, 5)}`
      const id = `${name}/${number}`
      const mark = dice.pick([' ', 'x', 'X', '', '~', '-'])
      const known: Record<string, string> =
        layout === 'kiro' ? { '-': 'in-progress', '~': 'queued' } : {}
      const status = mark.toLowerCase() === 'x' ? 'done' : (known[mark] ?? 'todo')
      // In spec-kit, a part waits for what its whole waits for.
      const bullet = dice.pick(['-', '*', '+', '3.', layout === 'kiro' ? '  -' : '-'])
      const written = dice.pick([number, `**${number}**`, `${number}.`, `__${number})__`])
      const dep = [...closed.keys()].find(() => dice.chance(0.3))
      const isWaiting = layout === 'spec-kit' && dep !== undefined && dep !== number
      const waits = isWaiting
        ? dice.pick([
            ` (depends on ${dep})`,
            `\n  *(depends on ${dep}).*`,
            ` (Depends on: ${dep}) [P]`,
          ])
        : ''
      // Without it, a task would wait for those before it, too.
      const parallel = layout === 'spec-kit' ? ' [P]' : ''
      const text = dice.pick(['Fill', '注ぐ', 'a: b'])
      lines.push(`${bullet} [${mark}] ${written}${parallel} ${text}${waits}`)
      if (closed.has(number)) {
        const twin = [2, 3, 4, 5, 6, 7, 8].find((each) => !expected.has(`${id}~${each}`))
        expected.set(`${id}~${twin}`, { status, ready: false, isInvalid: true })
        continue
      }
      const ready = status !== 'done' && (!isWaiting || closed.get(dep) === true)
      expected.set(id, { status, ready, isInvalid: false })
      closed.set(number, status === 'done')
    }
    const all = [...closed].length > 0
    if (all) expected.set(name, {})
    const path = layout === 'kiro' ? `.kiro/specs/${name}/tasks.md` : `specs/${name}/tasks.md`
    files[path] = encoded(dice, `# Plan\n${lines.join('\n')}\n`)
  }
  return { files, expected }
}

export function cairnBoard(dice: Dice) {
  const files: Files = {
    '.cairn/config.yaml': 'prefix: T\nstates: [open, doing, done]\nclosed: [done]\ninitial: open\n',
  }
  const expected = new Map<string, Expected>()
  const status = new Map<string, string>()
  for (let n = 1; n <= 8; n++) status.set(`T-${n}`, dice.pick(['open', 'doing', 'done']))
  for (const [id, own] of status) {
    const dep = dice.chance(0.4) ? `T-${dice.count(1, 9)}` : undefined
    const deps = dep === undefined ? '' : `deps: [${dep}]\n`
    const title = JSON.stringify(dice.pick(WORDS))
    const whole = `---\ntitle: ${title}\nstatus: ${own}\n${deps}---\nText.\n`
    const kind = dice.next()
    const path = `.cairn/tasks/${id}.md`
    if (kind < 0.1) files[path] = whole.slice(0, 12)
    else if (kind < 0.2) files[path] = whole.replace('---\nText', '<<<<<<< HEAD\n---\nText')
    else if (kind < 0.3) files[path] = Buffer.from(whole, 'utf16le')
    else files[path] = encoded(dice, whole)
    if (kind < 0.3) {
      expected.set(id, { ready: false, isInvalid: true })
      status.set(id, 'broken')
    } else expected.set(id, { status: own, ...(dep === undefined && { ready: own !== 'done' }) })
  }
  return { files, expected }
}

/** A spec folder of BMAD. */
export function bmadSpec(dice: Dice): Files {
  const at = '_bmad-output/specs/spec-tea'
  const files: Files = { [`${at}/SPEC.md`]: cut(dice, encoded(dice, '---\nid: S\n---\n\n# Tea\n')) }
  const ids = ['"1"', '"2"', '"3-2"', '"auth"', '7', '"1"', '"a/b"', '~', '[]', '"3"', "'größe'"]
  const text = ids
    .filter(() => dice.chance(0.6))
    .map((id) => `- id: ${id}\n  title: ${dice.pick(WORDS)}\n  description: >-\n    It is.\n`)
  files[`${at}/stories.yaml`] = cut(dice, encoded(dice, text.join('')))
  for (const name of ['1-fill', '3-2-2024-tea', 'auth-it', '9-none', 'größe-1', '2-']) {
    const status = dice.pick(['draft', "'done'", 'blocked', 'in-review', '"?"', '[]', '~'])
    const front = `---\ntitle: '${dice.pick(WORDS)}'\nstatus: ${status} # draft | done\n---\n`
    if (dice.chance(0.6)) files[`${at}/stories/${name}.md`] = cut(dice, `${front}\n## Intent\n`)
  }
  return files
}
