// Files of boards that were made to keep the process busy, from a seed: for each layout and each
// kind of its files, up to the size at which it is refused, of pieces that are repeated, nested,
// ranges and stars, where a layout looks for something.

import type { LayoutName } from '../../worker/board/wire.ts'
import type { Dice } from './odd-boards.ts'

export interface HostileFile {
  layout: LayoutName
  /** Below the folder of `WHOLE`. */
  path: string
  text: string
  /** How it was made, for a message. */
  made: string
}

/** A board of each layout with a file of each kind. */
export const WHOLE: Readonly<Record<LayoutName, Readonly<Record<string, string>>>> = {
  cairn: {
    '.cairn/config.yaml': 'prefix: T\nstates: [todo, done]\nclosed: [done]\n',
    '.cairn/tasks/T-1.md': '---\ntitle: Boil\nstatus: todo\n---\n',
    '.cairn/sessions/ses_0123456789abcdef01234567.yaml': 'task: T-1\nstatus: running\n',
    '.cairn/live/ses_0123456789abcdef01234567.json': '{}',
    '.cairn/runs/T-1-20260101-100000.000.log': '',
  },
  'backlog-md': {
    'backlog/config.yml': 'project_name: Tea\nstatuses: [To Do, Done]\n',
    'backlog/tasks/task-1 - Boil.md': '---\nid: TASK-1\ntitle: Boil\nstatus: To Do\n---\n',
    'backlog/milestones/m-1 - tea.md': '---\nid: m-1\ntitle: Tea\n---\n',
  },
  'task-master': {
    '.taskmaster/tasks/tasks.json': '{"master":{"tasks":[{"id":1,"title":"Boil"}]}}',
    '.taskmaster/state.json': '{"currentTag":"master"}',
  },
  openspec: {
    'openspec/config.yaml': 'schema: mine\n',
    'openspec/schemas/mine/schema.yaml': 'artifacts:\n  - {id: tasks, generates: "*.md"}\n',
    'openspec/changes/tea/tasks.md': '- [ ] 1.1 Boil\n',
    'openspec/changes/tea/proposal.md': '# Tea\n',
  },
  kiro: {
    '.kiro/specs/tea/tasks.md': '- [ ] 1. Boil\n',
    '.kiro/specs/tea/requirements.md': '# Tea\n',
  },
  'spec-kit': {
    '.specify/x': '',
    'specs/tea/tasks.md': '- [ ] T001 Boil\n',
    'specs/tea/spec.md': '# Tea\n',
  },
  bmad: {
    '_bmad/_config/manifest.yaml': '',
    '_bmad-output/implementation-artifacts/sprint-status.yaml':
      'development_status:\n  epic-1: backlog\n  1-1-boil: backlog\n',
    '_bmad-output/implementation-artifacts/1-1-boil.md': '# Story 1.1: Boil\n\nStatus: review\n',
  },
}

/** What some layout looks for, and what a pattern could begin with again and again. */
// biome-ignore format: many on a line.
const PIECES = [
  ' ', '\t', '\n', '\r\n', '\r', 'a', 'é', '☕', '\ud83d', '\0', '.', ',', ':', ': ', '-', '- ', '#',
  '# ', '`', '```\n', '~~~\n', '|', '>', '> ', '*', '**/', '*a', '?', '!', '&a ', '*a ', '@a ', '%',
  '{', '}', '[', ']', '(', ')', '[]', '{}', '[{', '"', "'", '\\', '\\"', '""', "''", '/', '../',
  '[P] ', '[P]', '[US1]', 'T001 ', 'T1-T400, ', 'T0-T999999,', 'depends on ', '(depends on ', '_',
  'Dependencies: ', '- [ ] ', '- [ ]', '- [x] 1. ', '1.', '1.1.', '1) ', '  - [ ] 1.1 a\n', '---\n',
  '- [ ] a\n', '- [ ] T001 a\n', '- [ ]* 1 a\n', '<<<<<<<', '>>>>>>> ', '\n>>>>>>>', '=======\n', '~2',
  '_Requirements: 1_\n', '## Phase 1: a\n', '## Task Dependency Graph\n', '(Priority: P1)', 'Epic 1: ',
  'a: b\n', 'a:\n', '- a\n', '- a: b\n', '? a\n', '|\n a\n', '[a, b], ', '{a: b}, ', '# Epic 1: a\n',
  '"a":1,', '{"a":', '{"id":1},', '{"id":1,"subtasks":[', '"\\u0000",', '1,', '[[', 'assignee: a\n',
  'token: a\n', 'password=', 'sk-', 'sk-a1', 'https://a:', '-----BEGIN PRIVATE KEY-----\n', 'AAAA',
  '\u001b[', '\u001b]', 'Bearer ', '  1-1-a: done\n', '  epic-1: done\n', 'exit: 0  timedout: ',
] as const

/** Where a filling stands. */
const FRAMES: readonly ((filling: string) => string)[] = [
  (it) => it,
  (it) => `---\ntitle: a${it}b\nstatus: todo\n---\n`,
  (it) => `---\nassignee: a${it}b\nlabels: [a${it}]\n---\n`,
  (it) => `---\nassignee: [a${it}\n---\n`,
  (it) => `---\n${it}\n---\n`,
  (it) => `---\ntitle: Boil\n---\n${it}`,
  (it) => `- [ ] T001 a ${it}x\n`,
  (it) => `- [ ] 1. a ${it}\n- [ ] 2. b\n`,
  (it) => `- [ ] T001 a, depends on ${it}x\n`,
  (it) => `## Phase 1: a${it}b\n- [ ] T001 a\n`,
  (it) => `# a${it}b\n\nStatus: a${it}b\n`,
  (it) => `- [ ] 1. a\n## Task Dependency Graph\n\`\`\`\n${it}\n\`\`\`\n`,
  (it) => `development_status:\n${it}\n`,
  (it) => `{"master":{"tasks":[${it}]}}`,
  (it) => `{"master":{"tasks":[{"id":1,"title":${JSON.stringify(it)},"dependencies":[1]}]}}`,
  (it) => `cmd: a${it}b\nexit: 1  timedout: false  duration: 1s\n----\n${it}`,
  (it) => `artifacts:\n  - id: tasks\n    generates: "${it}b"\n`,
]

const LIST_BYTES = 512 << 10
const TASKS_JSON = '.taskmaster/tasks/tasks.json'
const LEAST_BYTES = 64 << 10

/** Up to which a file is read, and a little more. */
function mostBytes(path: string): number {
  if (path === TASKS_JSON) return 33 << 20
  if (path.endsWith('tasks.md')) return LIST_BYTES + 1_024
  return path.endsWith('.log') ? 9 << 20 : (1 << 20) + 1_024
}

export const LAYOUTS = Object.keys(WHOLE) as LayoutName[]

export function hostileFile(dice: Dice, only?: LayoutName): HostileFile {
  const layout = only ?? dice.pick(LAYOUTS)
  const path = dice.pick(Object.keys(WHOLE[layout]))
  const size = Math.floor(LEAST_BYTES * (mostBytes(path) / LEAST_BYTES) ** dice.next())
  const frame = dice.pick(FRAMES)
  const frames = FRAMES.indexOf(frame)
  // Some frames have it twice.
  const { filling, how } = fillingOf(
    dice,
    Math.floor(size / (frame('x'.repeat(9)).split('x').length > 10 ? 2 : 1)),
  )
  return {
    layout,
    path,
    text: frame(filling),
    made: `${path}, frame ${frames}, ${how}, ${size} bytes`,
  }
}

function fillingOf(dice: Dice, size: number): { filling: string; how: string } {
  const [one, other, last] = [dice.pick(PIECES), dice.pick(PIECES), dice.pick(PIECES)]
  const times = (text: string, bytes = size) =>
    text.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(text))))
  const names = JSON.stringify([one, other, last])
  switch (dice.pick(['repeated', 'pairs', 'halves', 'nested', 'deeper'] as const)) {
    case 'repeated':
      return { filling: times(one) + last, how: `${names} repeated` }
    case 'pairs':
      return { filling: times(one + other) + last, how: `${names} in pairs` }
    case 'halves':
      return { filling: times(one, size / 2) + times(other, size / 2), how: `${names} in halves` }
    case 'nested':
      return { filling: times('[{"a":', size / 2) + times('}]', size / 2), how: 'nested brackets' }
    case 'deeper': {
      const depth = Math.floor(Math.sqrt(size))
      const lines = Array.from({ length: depth }, (_, n) => `${' '.repeat(n)}${one}`)
      return { filling: lines.join('\n'), how: `${names} deeper and deeper` }
    }
  }
}
