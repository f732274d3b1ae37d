// The boards that agents work off: files that branches can change beside each other without a
// conflict, and how a task of theirs is marked and closed.

export interface WorkBoard {
  files(tasks: number): Record<string, string>
  fileOf(task: string): string
  /** The text of its file with the task in this state. */
  mark(text: string, task: string): string
  close(text: string, task: string): string
  /** By task, what these files say. */
  statuses(texts: readonly string[]): Record<string, string>
  isTask(id: string): boolean
}

/** How many tasks the texts of its files have closed. */
export const closedIn = (board: WorkBoard, texts: readonly string[]): number =>
  Object.values(board.statuses(texts)).filter((status) => /^done$/i.test(status)).length

const numbers = (tasks: number) => Array.from({ length: tasks }, (_, n) => n + 1)

const CONFIG = `project_name: Bakery
task_prefix: back
statuses: ["To Do", "In Progress", "Done"]
remote_operations: false
check_active_branches: false
`

const BACKLOG: WorkBoard = {
  files: (tasks) => ({
    'backlog/config.yml': CONFIG,
    ...Object.fromEntries(
      numbers(tasks).map((n) => [
        BACKLOG.fileOf(`BACK-${n}`),
        `---\nid: BACK-${n}\ntitle: Bread\nstatus: To Do\n---\nFlour.\n`,
      ]),
    ),
  }),
  fileOf: (task) => `backlog/tasks/${task.toLowerCase()} - Bread.md`,
  mark: (text) => text.replace(/^status: .*$/m, 'status: In Progress'),
  close: (text) => text.replace(/^status: .*$/m, 'status: Done'),
  statuses: (texts) =>
    Object.fromEntries(
      texts.flatMap((text) => {
        const [id, status] = [/^id: (.+)$/m, /^status: (.+)$/m].map((line) => line.exec(text)?.[1])
        return id && status ? [[id, status]] : []
      }),
    ),
  isTask: () => true,
}

const OF_ONE = 5
const changeOf = (n: number) => `tea-${Math.ceil(n / OF_ONE)}`
/** The lines between two boxes keep their changes apart. */
const box = (n: number) => `- [ ] 1.${n} Pour ${n}\n  The kettle.\n  The cup.\n  The spoon.\n`
const BOX = /^- \[(.)\] 1\.(\d+) /gm

/** Checklists in folders. `begun`: its mark for that, if it has one. */
function checklists(within: string, begun = ' '): WorkBoard {
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
    isTask: (id) => id.includes('/'),
  }
}

export const BOARDS = {
  'backlog-md': BACKLOG,
  openspec: checklists('openspec/changes'),
  kiro: checklists('.kiro/specs', '-'),
}

/** A board whose tasks shell scripts mark and close. */
export interface Tool extends WorkBoard {
  /** Shell functions, for a task "$1": `mark` it as begun, `is_closed`, and `close`. */
  shell: string
  /** Several tasks are in one file: who edits has the board alone, as a person would look first. */
  isShared: boolean
}

/** `program`: the command line of Backlog.md. Without it its files are edited as an agent does. */
export const toolsWith = (program: string | undefined) => ({
  'backlog-md': {
    ...BACKLOG,
    isShared: false,
    shell: `
    file_of() { echo "backlog/tasks/back-\${1#BACK-} - Bread.md"; }
    edit() { ${
      program === undefined
        ? `sed "s/^status: .*/status: $2/" "$(file_of "$1")" > ".$1.new" &&
           mv ".$1.new" "$(file_of "$1")"`
        : `'${program}' task edit "$1" --status "$2" --plain > /dev/null`
    }; }
    mark() { edit "$1" "In Progress"; }
    close() { edit "$1" Done; }
    is_closed() { grep -q 'status: Done' "$(file_of "$1")"; }`,
  } satisfies Tool,
  /** It has no mark for begun work. */
  openspec: {
    ...BOARDS.openspec,
    isShared: true,
    shell: `
    file_of() { echo "openspec/changes/\${1%/*}/tasks.md"; }
    mark() { :; }
    close() { sed "s|\\[ \\] \${1#*/} |[x] \${1#*/} |" "$(file_of "$1")" > .new &&
      mv .new "$(file_of "$1")"; }
    is_closed() { grep -q "\\[x\\] \${1#*/} " "$(file_of "$1")"; }`,
  } satisfies Tool,
})
