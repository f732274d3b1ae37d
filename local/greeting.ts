// What a start prints for the person at the terminal.

import { relative } from 'node:path'
import { DATA_DIR } from './data-folder.ts'
import type { GatewayHere } from './gateways.ts'
import type { LocalJson } from './local-json.ts'

export interface Greeting {
  /** Undefined: payments alone. `tasks`: absent where another process counts them. */
  board: { dir: string; layout: string; tasks?: number } | undefined
  dataDir: string
  /** Its secret is in it. */
  trustsData: boolean
  /** What the edge runs on. */
  host: string
  local: LocalJson
  /** Signs one browser in. */
  link: string
  gateways: readonly GatewayHere[]
  /** The board is the example, whose tasks we know by name. */
  isExample: boolean
  /** Paths below it are shown short. */
  cwd: string
}

/** Other programs wait for this line, word for word. */
export const readyLine = (url: string): string => `signalbox ready ${url}`

export const greeting = (all: Greeting): string =>
  `${beforeReady(all)}${readyLine(all.local.url)}\n${afterReady(all)}`

/** A charge to try. */
const LAMP = {
  gateway: 'redirect',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'A lamp',
}

const beforeReady = ({ board, dataDir, host, local, gateways, cwd }: Greeting): string => `\
board       ${board ? boardOf(board, local, cwd) : 'none, payments alone'}
edge        ${local.url} (${host})
database    ${local.database}
gateways    ${gateways.map((it) => gatewayLine(it, local)).join(INDENTED) || 'none'}
${eventsOf(local)}logs        ${near(dataDir, cwd)}/logs
`

const boardOf = (
  { dir, layout, tasks }: NonNullable<Greeting['board']>,
  { path }: LocalJson,
  cwd: string,
): string => `${near(dir, cwd)} (${layout}${countOf(tasks)})\nrepository  ${path}`

const INDENTED = `\n${' '.repeat(12)}`

function gatewayLine({ key, mode, url, missing, unused }: GatewayHere, local: LocalJson): string {
  const without = missing.join(', ')
  const idle = unused.length === 0 ? '' : `; ${unused.join(', ')} has no effect without ${without}`
  switch (mode) {
    case 'real':
      return `${key}: real (${url})`
    case 'simulated':
      return `${key}: simulated (${local.simulator})${idle}`
    case 'missing':
      return `${key}: left out (missing: ${without})`
  }
}

const eventsOf = ({ eventsUrl }: LocalJson): string =>
  eventsUrl === undefined ? '' : `events      ${eventsUrl}\n`

const countOf = (tasks: number | undefined): string =>
  tasks === undefined ? '' : `, ${tasks} ${tasks === 1 ? 'task' : 'tasks'}`

function afterReady(greeting: Greeting): string {
  const { board, dataDir, trustsData, local, link, cwd } = greeting
  const dir = near(dataDir, cwd)
  // To `require`, a path without a dot in front is a package.
  const module = dir.startsWith('/') ? dir : `./${dir}`
  const tokenOf = (name: string) => `$(node -p 'require("${module}/local.json").tokens.${name}')`
  const named = dir === DATA_DIR ? '' : ` --data ${quote(dir)}`
  const data = trustsData ? `${named} --trust-data` : named
  const watching =
    board &&
    `
Watch the board in another terminal:

  curl -N -H "Authorization: Bearer ${tokenOf('board')}" ${local.url}/api/events

${changeOf(board.dir, greeting)}
`
  return `
Open  ${link}

It signs one browser in; npx signalbox sign-in${data} prints another.
${watching ?? ''}
Charge something, and pay it on the page of the simulated gateway (redirectUrl):

  curl -s -X POST ${local.url}/api/payments/charges -H 'Content-Type: application/json' \\
    -H "Authorization: Bearer ${tokenOf('payments')}" \\
    -d '${JSON.stringify(LAMP)}'

Ctrl-C ends all of it.
`
}

function changeOf(boardDir: string, { isExample, cwd }: Greeting): string {
  if (!isExample) return 'and save a task of the board in an editor.'
  const inPlace = process.platform === 'darwin' ? "-i ''" : '-i'
  const task = quote(`${near(boardDir, cwd)}/.cairn/tasks/LAMP-4.md`)
  return `and change a task in another:

  sed ${inPlace} 's/^status: .*/status: in_progress/' ${task}`
}

function near(path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short === '' || short.startsWith('..') ? path : short
}

const quote = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
