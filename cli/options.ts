// Every option of every command, with its environment variable. A secret is never an option:
// options show in the list of processes.

export interface Option {
  /** The value after the option. Absent: it is a switch. */
  value?: string
  /** Used where the option is not given. */
  env?: string
  help: string
}

export const OPTIONS = {
  store: { value: 'DIR', help: 'folder of the task board [examples/board]' },
  example: { help: 'make an example board here, in signalbox-example, and start on it' },
  open: { help: 'open the console in the browser' },
  port: { value: 'N', help: 'port of the edge; 0 takes any free port [8787]' },
  host: { value: 'HOST', help: 'runtime of the edge: workerd or deno [workerd]' },
  data: { value: 'DIR', help: 'data folder of a running signalbox' },
  'no-config': { help: 'do not run signalbox.config.ts of the current folder' },
  'follow-links': { help: 'publish the board in DIR also if it is a link that leads out of DIR' },
  'trust-data': {
    env: 'SIGNALBOX_TRUST_DATA',
    help: "the data folder's secret is in it, and not in the user's state folder",
  },
  edge: { value: 'URL', env: 'SIGNALBOX_EDGE', help: 'address of the edge' },
  repo: { value: 'NAME', env: 'SIGNALBOX_REPO', help: 'name of the repository at the edge' },
  'token-file': {
    value: 'FILE',
    env: 'SIGNALBOX_TOKEN_FILE',
    help: 'file that holds the access token',
  },
  poll: {
    env: 'SIGNALBOX_POLL',
    help: 'look at the files each second: for mounts that report no change (network, WSL)',
  },
  'run-output': {
    value: 'KIND',
    env: 'SIGNALBOX_RUN_OUTPUT',
    help: 'output of runs: masked (without what looks like a secret) or none [masked]',
  },
  healthz: {
    value: 'PORT',
    env: 'SIGNALBOX_HEALTHZ',
    help: 'answer GET /healthz and GET /metrics on 127.0.0.1',
  },
  cache: {
    value: 'DIR',
    env: 'SIGNALBOX_CACHE',
    help: "folder for hashes, which make a restart quick [the user's cache folder]",
  },
  log: {
    value: 'FORMAT',
    env: 'SIGNALBOX_LOG',
    help: 'json or pretty [pretty on a terminal, else json]',
  },
  verbose: { help: 'log every scan too' },
  wait: { help: 'wait for the board while DIR holds none' },
  'exit-with-parent': { help: 'end when standard input closes' },
  timeout: { value: 'TIME', env: 'SIGNALBOX_TIMEOUT', help: 'give up after this time [5m]' },
  scope: {
    value: 'SCOPES',
    help: 'what the token allows, separated by spaces [board:write]',
  },
  ttl: { value: 'TIME', help: 'how long the token is valid: 12h, 30d, … [30d]' },
  payments: { help: 'check payments too, as signalbox payments doctor does' },
  env: {
    value: 'FILE',
    help: 'read variables from this file, such as .dev.vars, and not from the environment',
  },
  reference: { value: 'R', help: "the shop's name for the payment" },
  amount: { value: 'N', help: 'what the gateway says was paid, in minor units' },
  currency: { value: 'CUR', help: 'three capital letters' },
  status: { value: 'STATUS', help: 'Paid, Failed, Expired, Cancelled or Refunded [Paid]' },
  transaction: { value: 'ID', help: "the gateway's name for the payment" },
  'event-id': { value: 'ID', help: 'id of the event; a repeated id is a duplicate [a new id]' },
  times: { value: 'N', help: 'send the same webhook N times at once, at most 1000 [1]' },
  json: { help: 'print one JSON object instead of lines' },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

/** As a sentence names it: `--edge URL (or SIGNALBOX_EDGE)`. */
export function nameOf(name: OptionName): string {
  const { value, env }: Option = OPTIONS[name]
  const flag = value === undefined ? `--${name}` : `--${name} ${value}`
  return env === undefined ? flag : `${flag} (or ${env})`
}
