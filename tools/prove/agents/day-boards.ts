// The boards of a day: files that branches can change beside each other without a conflict.

export interface DayBoard {
  files(tasks: number): Record<string, string>
  /** The file of a task, and its text with the task in this state. */
  fileOf(task: string): string
  mark(text: string, task: string): string
  close(text: string, task: string): string
  /** By task, what these files say. */
  statuses(texts: readonly string[]): Record<string, string>
  closed(texts: readonly string[]): number
  isTask(id: string): boolean
}

const numbers = (tasks: number) => Array.from({ length: tasks }, (_, n) => n + 1)

const BACKLOG: DayBoard = {
  files: (tasks) => ({
    'backlog/config.yml':
      'project_name: Bakery\ntask_prefix: back\nstatuses: ["To Do", "In Progress", "Done"]\n',
    ...Object.fromEntries(
      numbers(tasks).map((n) => [
        BACKLOG.fileOf(`BACK-${n}`),
        `---\nid: BACK-${n}\ntitle: Bread ${n}\nstatus: To Do\n---\nFlour.\n`,
      ]),
    ),
  }),
  fileOf: (task) => `backlog/tasks/back-${task.slice(5)} - Bread-${task.slice(5)}.md`,
  mark: (text) => text.replace(/^status: .*$/m, 'status: In Progress'),
  close: (text) => text.replace(/^status: .*$/m, 'status: Done'),
  statuses: (texts) =>
    Object.fromEntries(
      texts.flatMap((text) => {
        const [, id, status] = /^id: (.*)\ntitle: .*\nstatus: (.*)$/m.exec(text) ?? []
        return id && status ? [[id, status]] : []
      }),
    ),
  closed: (texts) => texts.filter((text) => text.includes('status: Done')).length,
  isTask: () => true,
}

const OF_ONE = 5
const changeOf = (n: number) => `tea-${Math.ceil(n / OF_ONE)}`
/** The lines between two boxes keep their changes apart. */
const box = (n: number) => `- [ ] 1.${n} Pour ${n}\n  The kettle.\n  The cup.\n  The spoon.\n`
const BOX = /^- \[(.)\] 1\.(\d+) /gm

const OPENSPEC: DayBoard = {
  files: (tasks) =>
    Object.fromEntries(
      [...Map.groupBy(numbers(tasks), changeOf)].map(([change, of]) => [
        `openspec/changes/${change}/tasks.md`,
        of.map(box).join('\n'),
      ]),
    ),
  fileOf: (task) => `openspec/changes/${task.split('/')[0]}/tasks.md`,
  // It has no mark for begun work.
  mark: (text) => text,
  close: (text, task) =>
    text.replace(`- [ ] ${task.split('/')[1]} `, `- [x] ${task.split('/')[1]} `),
  statuses: (texts) =>
    Object.fromEntries(
      texts.flatMap((text) =>
        [...text.matchAll(BOX)].map(([, mark, n]) => [
          `${changeOf(Number(n))}/1.${n}`,
          mark === 'x' ? 'done' : 'todo',
        ]),
      ),
    ),
  closed: (texts) => texts.join('').split('- [x]').length - 1,
  isTask: (id) => id.includes('/'),
}

export const DAY_BOARDS = { 'backlog-md': BACKLOG, openspec: OPENSPEC }
