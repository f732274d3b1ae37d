// The port of a board's layout: which files of a store matter, and what each of them says.
// Its adapters are beside it, one for each tool, such as cairn.ts or task-master.ts.

import type { BoardConfig, LayoutName, Live, Run, Session, Task } from '../../worker/board/wire.ts'

/**
 * What a file of the store is. `tasks` is one file that holds many tasks. `about` has the title and
 * text of a task that a file of the same folder holds, and is that task itself where none does. A
 * `setting` is read for what it adds to other records.
 */
export type FileKind = 'task' | 'tasks' | 'about' | 'session' | 'live' | 'run' | 'board' | 'setting'

/** A task as its file has it: what follows from other files is derived later, by the board. */
export type TaskSource = Omit<Task, 'ready' | 'held' | 'file' | 'executionState' | 'sessionId'>
type SessionSource = Omit<Session, 'health' | 'live'>

/**
 * How the tool treats a task, whatever its status is. `closed`: it is done. `held`: nobody is
 * to begin it now. `outside`: it is in none of the tool's lists, so nothing that waits for it is
 * ready either.
 */
export type Standing = 'closed' | 'held' | 'outside'

/** One thing that a file says. A file of kind `tasks` says many, any other says one. */
export type Entry =
  | {
      kind: 'task'
      id: string
      task: TaskSource
      standing?: Standing
      /** Changes only with the entry itself, not with what its deps refer to. Absent: the file. */
      source?: string
      /** Why a file `about` a task should not stand alone, in one sentence. */
      alone?: string
      /** The tool gives such a task's file another name: of two with one id, it may be a copy. */
      isMisnamed?: true
    }
  | { kind: 'session'; id: string; session: SessionSource }
  | { kind: 'live'; id: string; live: Live }
  | { kind: 'run'; id: string; task: string; run: Run }
  | {
      kind: 'board'
      id: 'board'
      board: BoardConfig
      /** A session is stalled when its heartbeat is older than this. */
      staleAfterMs?: number
    }
  /** `currentTag`, else `defaultTag`; `milestone:<folded id>`, or `archived-…`, with its title. */
  | { kind: 'setting'; id: string; value: string }

/** Why what a file says could not be read whole, in one sentence. */
export function invalidOf(entry: Entry): string | undefined {
  switch (entry.kind) {
    case 'task':
      return entry.task.invalid
    case 'session':
      return entry.session.invalid
    case 'run':
      return entry.run.invalid
    case 'board':
      return entry.board.invalid
    case 'live':
    case 'setting':
      return undefined
  }
}

/** The entry with this reason in place of any other. */
export function withInvalid(entry: Entry, invalid: string): Entry {
  switch (entry.kind) {
    case 'task':
      return { ...entry, task: { ...entry.task, invalid } }
    case 'session':
      return { ...entry, session: { ...entry.session, invalid } }
    case 'board':
      return { ...entry, board: { ...entry.board, invalid } }
    case 'run':
    case 'live':
    case 'setting':
      return entry
  }
}

/** What a file says. `broken`: it could not be read whole, and its entries say so. */
export interface Parsed {
  state: 'ok' | 'broken'
  entries: readonly Entry[]
}

/** For a file with one record: it is broken if the record is missing or invalid. */
export function parsedAs(entries: readonly Entry[]): Parsed {
  const isOk = entries.length > 0 && entries.every((entry) => invalidOf(entry) === undefined)
  return { state: isOk ? 'ok' : 'broken', entries }
}

/** Where a file belongs. */
export interface FileRole {
  /** Files of the same folder are about the same task. */
  folder: string
  /** Among files about the same task, the one with the lowest counts. */
  rank: number
  /** Which tasks this file of tasks is only about, as others beside it are. Absent: none. */
  isAbout?(id: string): boolean
}

/** An opened store: everything the sidecar needs to know of one tool's files. Pure. */
export interface Store {
  readonly layout: LayoutName
  /** Real path of the folder that holds all of it; nothing outside it is ever read. */
  readonly root: string
  /** The path of `root` below the project's folder, such as `.kiro`. Empty: it is that folder. */
  readonly within: string
  /**
   * Folders whose files matter (not their subfolders), absolute. They may not exist yet. Asked at
   * every scan, since some tools have a folder for each feature.
   */
  folders(): readonly string[]
  /**
   * The file or folder that holds the tasks that are open. A board that had some, and has not even
   * that any more, is missing and not empty. Absolute.
   */
  readonly tasksIn: string
  /** Read before any other file: how the rest is understood depends on it. Absolute. */
  readonly configFile?: string
  /** The configuration of a tool that has no file for it, or for as long as that is not there. */
  readonly board?: BoardConfig
  /** How large a file with many tasks may be. Absent: as any other. */
  readonly listBytes?: number
  /** What an absolute path is to this layout; undefined: ignored, no hint and no scan counts it. */
  classify(path: string): FileKind | undefined
  /**
   * What a file says. Never throws: a file that cannot be understood is an entry whose `invalid`
   * says why in one sentence, under the id that its name gives. Of a broken file that holds many
   * tasks they stay as they were last read.
   */
  parse(path: string, kind: FileKind, text: string): Parsed
  /**
   * Why the tool itself lists no task for a file in the folders of tasks, as the end of a sentence;
   * undefined: it does. `prefix`: that of the configuration. Absent: each file that it knows.
   */
  whyIgnored?(path: string, prefix: string | undefined): string | undefined
  /**
   * Which tasks of the tool are in no file that is read here, and what helps, in one sentence.
   * Undefined: none that it knows of. Reads the disk.
   */
  unread?(): string | undefined
  /** The entries of a file that could not be read at all (too large, a link out of the store). */
  unreadable(path: string, kind: FileKind, why: string): Entry[]
  /** Absent, or undefined: files in one folder, in the order of their paths. */
  roleOf?(path: string): FileRole | undefined
  /**
   * Whether the ids of a file are guesses by its name: each counts only where a file beside it, of
   * which that is not so, has that id. Absent: of none.
   */
  isGuess?(path: string): boolean
  /** An id of a task that was listed when an earlier run ended. */
  remember?(id: string): void
  /** Ids that name the same task (a tool that ignores case); used to look deps up. */
  fold(id: string): string
}

/** Whether a file only has the title and text of a task. */
export const isAbout = ({ classify, roleOf }: AboutRules, path: string, id: string): boolean =>
  classify(path) === 'about' || roleOf?.(path)?.isAbout?.(id) === true
type AboutRules = Pick<Store, 'classify' | 'roleOf'>

/** Why a board that was found may have fewer tasks than is expected of it, in one sentence. */
export function whyFewer(
  { layout, root, tasksIn, board, unread }: Pick<Store, Parts>,
  tasks: number,
): string | undefined {
  const elsewhere = unread?.()
  if (elsewhere !== undefined || tasks > 0 || board?.invalid !== undefined) return elsewhere
  return `The board of ${layout} in ${root} has no task: they are looked for in ${tasksIn}.`
}
type Parts = 'layout' | 'root' | 'tasksIn' | 'board' | 'unread'

/** One tool's layout. */
export interface Layout {
  /** The tool and the files that `detect` looks for, as the sentence about no board lists them. */
  readonly signs: string
  /**
   * Names in a project's folder: without one of them, `detect` finds nothing there. A walk through
   * many folders knows their names already, and asks the disk for nothing else.
   */
  readonly marks: readonly string[]
  /**
   * Opens the store of this layout in `dir`, found by its content; undefined when there is none.
   * Makes nothing on disk.
   */
  detect(dir: string): Promise<Store | undefined>
}
