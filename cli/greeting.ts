// What a start prints for the person at the terminal.

import { hostname } from 'node:os'
import { relative } from 'node:path'
import { renderUnicodeCompact } from 'uqr'
import { DATA_DIR } from '../system/data/data-folder.ts'
import type { LocalBoard, LocalJson, Shared } from '../system/data/local-json.ts'
import type { GatewayHere } from '../system/local/gateways.ts'
import type { LocalSystem } from '../system/local/local-system.ts'
import { LOOPBACK } from '../system/local/ports.ts'
import type { SharePlan, Sharing } from '../system/local/share.ts'
import { startLink } from '../system/local/tokens.ts'
import { printable } from '../worker/shared/printable.ts'
import { announce, type Io, quote } from './terminal.ts'

export interface Greeting {
  /** None: payments alone. */
  boards: readonly ListedBoard[]
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

interface ListedBoard extends LocalBoard {
  /** Absent where another process counts them. */
  tasks?: number
  /** Files of a large board that is being read for the first time. */
  reading?: number | undefined
}

/** Other programs wait for this line, word for word. */
export const readyLine = (url: string): string => `signalbox ready ${url}`

/** @forTests What it prints, without a start. */
export const greeting = (all: Greeting): string =>
  `${beforeReady(all)}${readyLine(all.local.url)}\n${afterReady(all)}`

/** Prints that it is there, and resolves with the link that signs one browser in. */
export async function greet(
  io: Io,
  { location, secret, ports, sharing, gateways }: LocalSystem,
  {
    project,
    repo,
    ...known
  }: Omit<Greeting, 'dataDir' | 'trustsData' | 'link' | 'gateways'> & {
    project: string
    repo: string
  },
): Promise<string> {
  const { dataDir, trustsData } = location
  const { local } = known
  const isShared = sharing !== undefined
  const link = await startLink(secret, local, { isShared, now: Date.now() })
  const greets = greeting({ ...known, dataDir, trustsData, link, gateways })
  const text = sharing ? `${greets}${sharingText(sharing, ports, io.isTerminal)}` : greets
  // Without the link: a log is read by others, too.
  announce(io, text, 'signalbox.ready', { url: local.url, repo, project, dataDir })
  return link
}

/** A charge to try. The shell makes another order each time: a paid one is not charged again. */
const LAMP = {
  reference: "order-'$(date +%s)'",
  amount: 25_000,
  currency: 'IQD',
  description: 'A lamp',
}

const beforeReady = ({ boards, dataDir, host, local, gateways, cwd }: Greeting): string => `\
${boardsOf(boards, cwd)}
edge        ${local.url} (${host})
database    ${local.database}
gateways    ${gateways.map((it) => gatewayLine(it, local)).join(INDENTED) || 'none'}
${eventsOf(local)}logs        ${printable(near(dataDir, cwd))}/logs
`

const INDENTED = `\n${' '.repeat(12)}`
/** A monorepo may have hundreds. */
const MAX_SHOWN = 10

function boardsOf(boards: Greeting['boards'], cwd: string): string {
  const [only, ...others] = boards
  if (!only) return 'board       none, payments alone'
  if (others.length === 0)
    return `board       ${boardLine(only, cwd)}\nrepository  ${printable(only.path)}`
  const shown = boards
    .slice(0, MAX_SHOWN)
    .map((it) => `${boardLine(it, cwd)}: ${printable(it.path)}`)
  const more = boards.length - shown.length
  if (more > 0) shown.push(`and ${more} more`)
  return `boards      ${shown.join(INDENTED)}`
}

const boardLine = ({ dir, layout, ...counted }: ListedBoard, cwd: string): string =>
  `${printable(near(dir, cwd))} (${layout}${countOf(counted)})`

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

function countOf({ tasks, reading }: Pick<ListedBoard, 'tasks' | 'reading'>): string {
  if (reading !== undefined) return `, reading ${reading.toLocaleString('en-GB')} files …`
  return tasks === undefined ? '' : `, ${tasks} ${tasks === 1 ? 'task' : 'tasks'}`
}

function afterReady(greeting: Greeting): string {
  const { boards, dataDir, trustsData, local, link, gateways, cwd } = greeting
  const [board, another] = boards
  const dir = near(dataDir, cwd)
  // To `require`, a path without a dot in front is a package.
  const module = dir.startsWith('/') ? dir : `./${dir}`
  const file = JSON.stringify(`${module}/local.json`)
  const tokenOf = (name: string) => `$(node -p ${quote(`require(${file}).tokens.${name}`)})`
  const named = dir === DATA_DIR ? '' : ` --data ${quote(dir)}`
  const data = trustsData ? `${named} --trust-data` : named
  const watching =
    board &&
    `
Watch the ${another ? 'first board' : 'board'} in another terminal:

  curl -N -H "Authorization: Bearer ${tokenOf('board')}" ${local.url}/api/events

${changeOf(board.dir, greeting)}

Who holds which task: signalbox claims
${another ? anotherOf(another) : ''}`
  // A real one must not be charged for a try.
  const payable = gateways.find((it) => it.driver === 'redirect' && it.mode === 'simulated')
  const charging =
    payable &&
    `
Charge something, and pay it on the page of the simulated gateway (redirectUrl):

  curl -s -X POST ${local.url}/api/payments/charges -H 'Content-Type: application/json' \\
    -H "Authorization: Bearer ${tokenOf('payments')}" \\
    -d '${JSON.stringify({ gateway: payable.key, ...LAMP })}'
`
  const forPhone = local.shared ? ', and with --phone a code for a phone' : ''
  return `
Open  ${link}

It signs one browser in; signalbox sign-in${data} prints another${forPhone}.
${watching ?? ''}${charging ?? ''}
Ctrl-C ends all of it.
`
}

/** In an address, `#` would begin what is never sent. */
const anotherOf = ({ path }: LocalBoard): string => `
For another board, add to curl: -G --data-urlencode ${quote(`path=${path}`)}
`

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

/**
 * For a phone that is to scan the link. `isTerminal`: it shows colours, and so the code dark on
 * light, as every camera reads it.
 */
export function phoneText(
  { urls: [, ...others], fingerprint }: Shared,
  link: string,
  isTerminal: boolean,
): string {
  const code = renderUnicodeCompact(link, { border: 2 })
  const lines = code.split('\n').map((line) => (isTerminal ? `\x1b[97;40m${line}\x1b[0m` : line))
  const also = others.length === 0 ? '' : `\nIf it does not open, try ${others.join(' or ')}.\n`
  return `
On a phone in the same network, within ten minutes (it signs one in, once):

${lines.map((line) => `  ${line}`).join('\n')}

  ${link}
${also}
The browser warns that it does not know this certificate: Signalbox made it itself. Go on by
"Advanced" (Chrome, Firefox) or "Show Details" (Safari). To be sure, compare its SHA-256:

  ${fingerprint}
`
}

/**
 * How another device gets here.
 * @forTests Without a start.
 */
export const sharingText = (
  { shared, phoneLink }: Sharing,
  ports: SharePlan['ports'],
  isTerminal: boolean,
): string =>
  shared && phoneLink ? phoneText(shared, phoneLink(), isTerminal) : sharingLines(ports)

/** Other ways to this machine: all of it stays on loopback. */
function sharingLines({ edge, simulator }: SharePlan['ports']): string {
  const name = hostname()
  const forward = (port: number) => `-L ${port}:${LOOPBACK}:${port}`
  const caddy = `caddy reverse-proxy --internal-certs --from https://${name}:8443`
  return `
Signalbox listens on 127.0.0.1 alone. One of these leads to it from another machine.

ssh: type this there, and open http://127.0.0.1:${edge} there. Payment pages open, too.

  ssh -N ${forward(edge)} ${forward(simulator)} ${name}

Caddy: type this here, and open https://${name}:8443 there. The browser asks about its certificate.

  ${caddy} --to 127.0.0.1:${edge}

tailscale: type this here, and open the address that it prints there.

  tailscale serve --bg ${edge}

The link above signs in there, too, if its beginning is replaced by that address.
`
}
