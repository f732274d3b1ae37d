// The records of a board: what a sidecar publishes, and what clients read. The types of wire.ts and
// the descriptions in libraries/api/board.ts come from these schemas.

import * as z from 'zod'
import { LAYOUT_NAMES } from '../shared/layouts.ts'

const optionalText = z.string().exactOptional()
const idText = z.string().min(1).max(1_024)
// Half of a surrogate pair is stored as another character: two ids would share one row, and the
// sums would never again be those of the publisher.
const isWellFormed = (text: string): boolean => text.isWellFormed()
const idSchema = idText.refine(isWellFormed)
export const hashSchema = z.string().regex(/^[0-9a-f]{32}$/)
export const keySchema = z
  .templateLiteral([z.enum(['task', 'session', 'run', 'board']), ':', idText])
  .refine(isWellFormed)

const invalid = z
  .string()
  .describe('Why the file could not be read whole, in one sentence. It stays listed.')
  .exactOptional()

export const checkSchema = z.object({
  desc: z.string(),
  cmd: optionalText,
  type: optionalText,
  result: optionalText,
  cwd: optionalText,
  timeout: z.number().exactOptional(),
})

export const provenanceSchema = z.object({
  who: z.string(),
  at: z.string(),
  did: z.string(),
  text: optionalText,
})

export const executionSchema = z.enum(['active', 'stalled', 'awaiting_review'])
export const treeSchema = z
  .object({
    tree: z.string().describe('Its name in `worktrees/` of the repository.'),
    branch: optionalText,
    dir: z.string().describe('Its top folder.'),
    status: optionalText,
    title: optionalText,
    updatedAt: optionalText,
    gone: z.literal(true).describe('It took the task out.').exactOptional(),
    invalid: z
      .literal(true)
      .describe('Its file cannot be read there, as in the middle of a merge: it counts as begun.')
      .exactOptional(),
  })
  .describe('What a linked worktree of the repository made of a task.')

const doneSchema = z.object({
  at: z.string(),
  by: z.string().describe('The actor.'),
  session: z.string(),
  summary: z.string().describe('What the actor said of it.').exactOptional(),
})

const inTree = z
  .string()
  .describe('The linked worktree of git in which it is; absent: the main tree.')
  .exactOptional()

export const healthSchema = z.enum(['active', 'stalled', 'finished', 'canceled'])

/** The long texts of a task: lists leave them out. */
export const LEFT_OUT = ['checks', 'provenance', 'extra', 'body'] as const

export const taskSchema = z
  .object({
    id: idSchema,
    title: z.string(),
    status: z.string(),
    assignee: optionalText,
    assignees: z
      .array(z.string())
      .describe('All of them, `assignee` first; only where a task has more than one.')
      .exactOptional(),
    deps: z
      .array(z.string())
      .describe('Ids of the tasks that must be closed before this one is `ready`.')
      .exactOptional(),
    ready: z
      .boolean()
      .describe(
        'Not closed, not `held`, and every dep is closed. So it stays true of a task that ' +
          'somebody has begun.',
      ),
    held: z
      .literal(true)
      .describe(
        'Nobody is to begin it, whatever its deps: its tool lets nobody (a draft, a deferred ' +
          'task, a change with a list of tasks), it is `invalid`, or only `trees` have it.',
      )
      .exactOptional(),
    sharesId: z
      .literal(true)
      .describe('Two tasks have this id, so it is `invalid`: nobody can say which one is meant.')
      .exactOptional(),
    done: doneSchema
      .describe(
        'A claim of it was released as done: for 24 hours, or until a copy of it changed and is ' +
          'open there, nobody is offered it.',
      )
      .exactOptional(),
    updatedAt: optionalText,
    rank: z.number().exactOptional(),
    labels: z.array(z.string()).exactOptional(),
    priority: optionalText,
    parent: optionalText,
    partOf: z
      .string()
      .describe('In a checklist, the task that it is indented under, or numbered below.')
      .exactOptional(),
    optional: z.literal(true).describe('What it is part of is done without it.').exactOptional(),
    unnumbered: z
      .literal(true)
      .describe('In a checklist: its id is of its text, so another text is another id.')
      .exactOptional(),
    file: z
      .string()
      .describe('Where it stands, below the project’s folder. With `inMain: false`: of a tree.')
      .exactOptional(),
    folder: z
      .string()
      .describe('Where the tool keeps what is not on its board: `drafts`, `completed`, `archive`.')
      .exactOptional(),
    tag: z.string().describe('The list of the tool that it belongs to.').exactOptional(),
    milestone: z.string().describe('By its title, where the tool gives it one.').exactOptional(),
    dueDate: z.string().describe('A day, without a time zone: `YYYY-MM-DD`.').exactOptional(),
    type: optionalText,
    complexity: z.number().describe('As the tool estimates it.').exactOptional(),
    activeAttempt: optionalText,
    executionState: executionSchema.exactOptional(),
    sessionId: optionalText,
    trees: z
      .array(treeSchema)
      .describe(
        'The linked worktrees that changed the task, where one did: against the main tree, and ' +
          'against what both have in common. Every other field is the main tree’s.',
      )
      .exactOptional(),
    inMain: z
      .literal(false)
      .describe('Only `trees` have the task: its fields are those of the newest copy.')
      .exactOptional(),
    deletedInMain: z
      .literal(true)
      .describe('With `inMain: false`: the main tree had it, and has deleted it since.')
      .exactOptional(),
    checks: z.array(checkSchema).exactOptional(),
    provenance: z.array(provenanceSchema).exactOptional(),
    extra: z
      .record(z.string(), z.unknown())
      .describe('Fields of the file that Signalbox does not know, as they stand there.')
      .exactOptional(),
    body: z
      .string()
      .describe('Markdown; cut at 512 KiB with a last line that says so.')
      .exactOptional(),
    invalid,
  })
  .describe('Times are RFC 3339, UTC. Lists leave out `body`, `provenance`, `checks`, `extra`.')

export const liveSchema = z
  .object({ heartbeatAt: z.string(), progress: optionalText, worktree: optionalText })
  .describe('What an agent last said of a running session.')

export const sessionSchema = z.object({
  id: idSchema,
  task: z.string(),
  attempt: z.string(),
  actor: z.string(),
  client: optionalText,
  model: optionalText,
  status: z.string(),
  startedAt: z.string(),
  activeAt: z
    .string()
    .describe(
      'The last sign that somebody works: of a claim what a renewal says, else the heartbeat. ' +
        'Absent: there was none since the start.',
    )
    .exactOptional(),
  endedAt: optionalText,
  branch: optionalText,
  headStarted: optionalText,
  headFinished: optionalText,
  summary: optionalText,
  cancelReason: optionalText,
  health: healthSchema,
  live: liveSchema.exactOptional(),
  claim: z
    .object({
      generation: z.int().describe('Rises with each claim of the board.'),
      expiresAt: z.string().describe('Unless it is renewed until then.'),
    })
    .describe('The session is a claim of `POST /api/claims`, and in no file.')
    .exactOptional(),
  tree: inTree,
  invalid,
})

export const runSchema = z
  .object({
    file: idSchema,
    at: optionalText,
    cmd: optionalText,
    cwd: optionalText,
    head: optionalText,
    exit: z.number().describe('Missing where the log could not be read.').exactOptional(),
    timedout: z.boolean(),
    duration: optionalText,
    output: z.string().describe('Cut at 512 KiB with a last line that says so.').exactOptional(),
    tree: inTree,
    invalid,
  })
  .describe('One run of the checks of a task, from its log file.')

export const layoutSchema = z.enum(LAYOUT_NAMES)

export const boardSchema = z
  .object({
    layout: layoutSchema,
    project: z.string().describe('What the tool calls the project.').exactOptional(),
    prefix: optionalText,
    states: z.array(z.string()),
    closed: z.array(z.string()),
    initial: optionalText,
    currentTag: z.string().describe('The list that the tool works in now.').exactOptional(),
    extra: z.record(z.string(), z.unknown()).exactOptional(),
    invalid,
  })
  .describe('The configuration of a board.')

const taskRecord = z.object({
  kind: z.literal('task'),
  id: idSchema,
  hash: hashSchema,
  file: hashSchema.describe(
    'Covers only the task’s own file. If it is unchanged, another file caused the change, and ' +
      'clients get a message about that one.',
  ),
  copy: hashSchema
    .describe('Where trees have copies of it: covers only the main tree’s file.')
    .exactOptional(),
  task: taskSchema.omit({ done: true }),
})
const sessionRecord = z.object({
  kind: z.literal('session'),
  id: idSchema,
  hash: hashSchema,
  session: sessionSchema.omit({ claim: true }),
})
const runRecord = z.object({
  kind: z.literal('run'),
  id: idSchema,
  hash: hashSchema,
  task: z.string(),
  run: runSchema,
})
const boardRecord = z.object({
  kind: z.literal('board'),
  id: z.literal('board'),
  hash: hashSchema,
  board: boardSchema,
})

export const RECORDS = { taskRecord, sessionRecord, runRecord, boardRecord }

export const recordSchema = z
  .discriminatedUnion('kind', [taskRecord, sessionRecord, runRecord, boardRecord])
  .describe(
    'One record of the read model. `hash` covers the bytes of its file, every derived value and ' +
      'the key, so two equal hashes are the same record.',
  )

export const messageSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('task-changed'), id: z.string() }),
    z.object({ type: z.literal('tasks-changed') }),
    z.object({ type: z.literal('session-changed'), session: z.string() }),
  ])
  .describe('A change: what a client should fetch again.')
