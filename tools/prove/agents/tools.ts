// The boards that agents work off: their files, and how their tools mark and close a task.

export interface Tool {
  files(tasks: number): Record<string, string>
  /** Shell functions, for a task "$1": `mark` it as begun, `is_closed`, and `close`. */
  shell: string
  /** All tasks are in one file: who edits it has it alone, as a person would look at it first. */
  isOneFile: boolean
  /** How many tasks the texts of its files have closed. */
  closed(texts: readonly string[]): number
}

const numbers = (tasks: number) => Array.from({ length: tasks }, (_, n) => n + 1)
const count = (texts: readonly string[], what: string) => texts.join('').split(what).length - 1

const BACKLOG_CONFIG = `project_name: Bakery
task_prefix: back
statuses: ["To Do", "In Progress", "Done"]
remote_operations: false
check_active_branches: false
`

/** `program`: its own command line. Without it the files are edited as an agent does. */
const backlog = (program: string | undefined): Tool => ({
  files: (tasks) => ({
    'backlog/config.yml': BACKLOG_CONFIG,
    ...Object.fromEntries(
      numbers(tasks).map((n) => [
        `backlog/tasks/back-${n} - Bread.md`,
        `---\nid: BACK-${n}\ntitle: Bread\nstatus: To Do\n---\nFlour.\n`,
      ]),
    ),
  }),
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
  isOneFile: false,
  closed: (texts) => count(texts, 'status: Done'),
})

/** It has no mark for begun work. */
const OPENSPEC: Tool = {
  files: (tasks) => ({
    'openspec/changes/tea/tasks.md': numbers(tasks)
      .map((n) => `- [ ] 1.${n} Pour\n`)
      .join(''),
  }),
  shell: `
    file=openspec/changes/tea/tasks.md
    mark() { :; }
    close() { sed "s|\\[ \\] \${1#tea/} |[x] \${1#tea/} |" $file > .new && mv .new $file; }
    is_closed() { grep -q "\\[x\\] \${1#tea/} " $file; }`,
  isOneFile: true,
  closed: (texts) => count(texts, '- [x]'),
}

export const toolsWith = (backlogProgram: string | undefined) => ({
  'backlog-md': backlog(backlogProgram),
  openspec: OPENSPEC,
})
