// How an agent works from a board with the tools: what the server tells each, and the skill has.

export const RECIPE = `\
Never poll the task board, and never begin a task that you have not claimed.

1. \`claim_task\` with your own name as \`agent\` and \`wait_seconds\` 50 gives you a task that is yours alone. \`nothing_ready\`: none was free; call it again. Keep the \`claim\`.
2. Read it with \`get_task\`. Mark it as begun on the board yourself, with the board's own tool or in its file, and do it.
3. Give the \`claim\` to every call: that renews it. \`renew_claim\` with \`progress\` says what you do.
4. Close the task on the board. Then \`release_claim\` with \`outcome\` \`done\` and a \`summary\`.
5. You cannot go on? \`release_claim\` with \`abandoned\`: another agent may begin it.
6. \`claim_lost\` or \`claimed\`, from any of these: the task is somebody else's now. Stop.
7. For somebody else's task: \`wait_for_change\`, with the \`since\` of its last answer.
`
