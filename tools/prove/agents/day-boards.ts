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

/** Checklists in folders. `begun`: its mark for that, if it has one. */
function checklists(within: string, begun = ' '): DayBoard {
  const fileIn = (folder: string) => `${within}/${folder}/tasks.md`
  const to = (mark: string) => (text: string, task: string) => {
    const number = task.split('/')[1]
    return [' ', begun].reduce(
      (now, from) => now.replace(`- [${from}] ${number} `, `- [${mark}] ${number} `),
      text,
    )
  }
  return {
    files: (tasks) =>
      Object.fromEntries(
        [...Map.groupBy(numbers(tasks), changeOf)].map(([change, of]) => [
          fileIn(change),
          of.map(box).join('\n'),
        ]),
      ),
    fileOf: (task) => fileIn(task.split('/')[0] ?? ''),
    mark: to(begun),
    close: to('x'),
    statuses: (texts) =>
      Object.fromEntries(
        texts.flatMap((text) =>
          [...text.matchAll(BOX)].map(([, mark, n]) => [
            `${changeOf(Number(n))}/1.${n}`,
            mark === 'x' ? 'done' : mark === begun && begun !== ' ' ? 'in-progress' : 'todo',
          ]),
        ),
      ),
    closed: (texts) => texts.join('').split('- [x]').length - 1,
    isTask: (id) => id.includes('/'),
  }
}

export const DAY_BOARDS = {
  'backlog-md': BACKLOG,
  openspec: checklists('openspec/changes'),
  kiro: checklists('.kiro/specs', '-'),
}
