// How an agent works from a board with the tools: the instructions of the server, and the skill.

const STEPS = [
  '`claim_task` with your own name as `agent` and `wait_seconds` 50 gives you a task that is ' +
    'yours alone. `nothing_ready`: none was free; call it again. Keep the `claim`.',
  'Read it with `get_task`. Mark it as begun on the board yourself, with the board’s own tool or ' +
    'in its file, and do it.',
  'Give the `claim` to every call: that renews it. `renew_claim` with `progress` says what you do.',
  'Close the task on the board. Then `release_claim` with `outcome` `done` and a `summary`.',
  'You cannot go on? `release_claim` with `abandoned`: another agent may begin it.',
  '`claim_lost` or `claimed`, from any of these: the task is somebody else’s now. Stop.',
  'For somebody else’s task: `wait_for_change`, with the `since` of its last answer.',
]

export const RULE = 'Never poll the task board, and never begin a task that you have not claimed.'

export const numbered = (steps: readonly string[]): string =>
  steps.map((step, at) => `${at + 1}. ${step}\n`).join('')

export const RECIPE = `${RULE}\n\n${numbered(STEPS)}`
