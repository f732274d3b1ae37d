// Sharing with a phone or a colleague: an https port on the local network in front of the edge, and
// one in front of the payment pages of the simulator. They only forward to loopback, so every
// runtime of the edge is shared alike.

import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, BlockList, createServer as createTcpServer, type Socket } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { isLoopback } from '../../worker/shared/loopback.ts'
import type { LocalTokens, Shared } from '../data/local-json.ts'
import { findSecretFile, type SecretLocation } from '../data/secret.ts'
import { StartError } from '../start-error.ts'
import { LOOPBACK } from './ports.ts'
import { phoneLink, readPhoneCode, signInLink } from './tokens.ts'

export interface SharePlan {
  /** `lines`: nothing is opened, and other ways are printed. */
  what: 'network' | 'payments' | 'lines'
  location: SecretLocation
  /** The data folder's. */
  secret: string
  /** A phone that signs in gets what they cover. */
  tokens: LocalTokens
  ports: { edge: number; simulator: number }
}

export interface Sharing {
  /** Absent: nothing listens on the local network. */
  shared?: Shared
  /** The origin of the simulator's pages on the local network. */
  simulator?: string
  /** A fresh link that signs a phone in. Absent without `shared`. */
  phoneLink?(): string
  close(): Promise<void>
}

/**
 * A connection on which nothing comes or goes is cut: anybody who can reach the port could open
 * very many. What waits here sends something more often: a stream does so every 25 s.
 */
const SILENCE_MS = 60_000
/** From its first byte until a request's head is whole. A drop now and then would be no silence. */
const HEAD_MS = 30_000
const MAX_CONNECTIONS = 256

export interface ShareLimits {
  silenceMs: number
  headMs: number
  /** An eighth of them for one address: a phone's browser has six for each tab. */
  connections: number
}

/** Throws a StartError. `env` may have SHARE_CONNECTIONS. */
function limitsOf(env: SecretLocation['env']): ShareLimits {
  const connections = Number(env.SHARE_CONNECTIONS || MAX_CONNECTIONS)
  if (!Number.isInteger(connections) || connections < 8) {
    const why = 'SHARE_CONNECTIONS must be a whole number of 8 or more.'
    throw new StartError('bad_configuration', why)
  }
  return { silenceMs: SILENCE_MS, headMs: HEAD_MS, connections }
}

/** Throws a StartError if this machine is in no local network. */
export async function openSharing(
  plan: SharePlan,
  addresses = lanAddresses(),
  limits = limitsOf(plan.location.env),
): Promise<Sharing> {
  const { what, location, secret, tokens, ports } = plan
  if (what === 'lines') return { close: async () => undefined }
  const [first, ...others] = addresses
  if (first === undefined) {
    const why = 'This machine has no address in a local network, so nothing can be shared there'
    throw new StartError('no_network', `${why}; --share=lines prints other ways.`)
  }
  const beside = await findSecretFile(location)
  const file = beside && join(dirname(beside), 'certificate.pem')
  const host = hostname()
  const names = [...addresses, host, `${host.split('.', 1)}.local`, 'localhost', LOOPBACK]
  // Most starts share nothing, and what it imports takes as long to load as the rest of a start.
  const { openCertificate } = await import('./certificate.ts')
  const { pem, fingerprint } = await openCertificate(file, [...new Set(names)], Date.now())
  // Phones remember certificate and session by the port, so it should be the same at each start.
  const edge = await openFront(pem, ports.edge + 1, limits, (incoming, outgoing) => {
    const [, code] = PHONE_PATH.exec(incoming.url ?? '') ?? []
    if (code === undefined) forward(ports.edge, incoming, outgoing)
    else void signIn(code, { secret, tokens }, outgoing)
  })
  const payments =
    what === 'payments'
      ? await openFront(pem, ports.edge + 2, limits, (incoming, outgoing) => {
          // The rest of it has no token, and is for programs of this machine.
          if (PAY_PATH.test(incoming.url ?? '')) forward(ports.simulator, incoming, outgoing)
          else answer(outgoing, 404, 'There is nothing here.')
        })
      : undefined
  const urlOf = (address: string) => `https://${address}:${edge.port}`
  const shared = { urls: [urlOf(first), ...others.map(urlOf)] as const, fingerprint }
  return {
    shared,
    phoneLink: () => phoneLink(secret, urlOf(first), Date.now()),
    ...(payments && { simulator: `https://${first}:${payments.port}` }),
    async close() {
      await payments?.close()
      await edge.close()
    },
  }
}

/** Addresses that the internet does not route. */
const LOCAL = new BlockList()
LOCAL.addSubnet('10.0.0.0', 8)
LOCAL.addSubnet('172.16.0.0', 12)
LOCAL.addSubnet('192.168.0.0', 16)
// Networks of providers and tailscale, between two machines without a router, for documentation.
LOCAL.addSubnet('100.64.0.0', 10)
LOCAL.addSubnet('169.254.0.0', 16)
LOCAL.addSubnet('192.0.2.0', 24)

/** Networks of containers and tunnels: a phone is seldom there. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vbox|cni|podman|bridge|utun|tun|tap|wg|tailscale|zt)/

/**
 * This machine's in local networks, the one first that a phone is likely to reach.
 * @forTests With the interfaces of other machines.
 */
export function lanAddresses(interfaces = networkInterfaces()): string[] {
  return Object.entries(interfaces)
    .toSorted(([a], [b]) => Number(VIRTUAL.test(a)) - Number(VIRTUAL.test(b)))
    .flatMap(([, all = []]) => all)
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
    .filter((address) => LOCAL.check(address))
}

/** On `port`, or on any other if that is taken. */
async function openFront(
  pem: string,
  port: number,
  { silenceMs, headMs, connections }: ShareLimits,
  handle: RequestListener,
) {
  const timing = { headersTimeout: headMs, connectionsCheckingInterval: headMs / 6 }
  const tls = { key: pem, cert: pem, handshakeTimeout: headMs }
  const secure = createServer({ ...tls, ...timing }, (incoming, outgoing) => {
    const { url = '', headers, socket } = incoming
    const { hostname } = URL.parse(`https://${headers.host ?? ''}`) ?? {}
    // A target with a host of its own would be believed before the header.
    if (hostname === undefined || !url.startsWith('/')) {
      return answer(outgoing, 400, 'The request names no host, or two.')
    }
    // Behind this port, such a name stands for a browser of this machine.
    if (isLoopback(hostname) && !isLoopback(socket.remoteAddress ?? '')) {
      return answer(outgoing, 421, 'The Host header names another machine.')
    }
    handle(incoming, outgoing)
  })
  const plain = createPlainServer(timing, leadToHttps)
  // Neither listens itself, and only one that does looks at its timeouts.
  for (const server of [secure, plain]) server.emit('listening')
  const sockets = new Set<Socket>()
  const ofAddress = (address: string | undefined) =>
    [...sockets].filter(({ remoteAddress }) => remoteAddress === address).length
  const server = createTcpServer((socket) => {
    const { localAddress = '' } = socket
    // All addresses are listened on, and some may be of the internet.
    if (!isLoopback(localAddress) && !LOCAL.check(localAddress)) return socket.destroy()
    const isFull = sockets.size >= connections
    if (isFull || ofAddress(socket.remoteAddress) >= connections / 8) return socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(silenceMs, () => socket.destroy())
    socket.once('data', (first) => {
      socket.pause()
      socket.unshift(first)
      if (first[0] === TLS_HANDSHAKE) return secure.emit('connection', socket)
      plain.emit('connection', socket)
      return socket.resume()
    })
  })
  const listen = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(wanted, '0.0.0.0', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await listen(port).catch(() => listen(0))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** The first byte of a connection that is TLS. */
const TLS_HANDSHAKE = 0x16

/** A browser takes an address that was typed without a scheme for plain http. */
function leadToHttps({ url = '', headers }: IncomingMessage, outgoing: ServerResponse): void {
  const { host = '' } = headers
  const location = url.startsWith('/') && URL.canParse(`https://${host}`) && `https://${host}${url}`
  if (location) outgoing.setHeader('location', location)
  answer(outgoing, location ? 307 : 400, 'This port speaks https alone.')
}

/** Nothing is collected: what one side sends, the other gets at once, as streams need. */
function forward(port: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, socket } = incoming
  const { connection: _, ...headers } = incoming.headers
  const forwarded = {
    'x-forwarded-for': socket.remoteAddress ?? '',
    'x-forwarded-host': headers.host ?? '',
    'x-forwarded-proto': 'https',
  }
  // A connection for each: one that is kept may be closed at the moment in which it is used again.
  const location = { host: LOOPBACK, port, method, path, agent: false }
  const asked = request({ ...location, headers: { ...headers, ...forwarded } }, (answered) => {
    const { connection: _, 'keep-alive': _alive, ...kept } = answered.headers
    outgoing.writeHead(answered.statusCode ?? 502, kept).flushHeaders()
    pipeline(answered, outgoing, () => undefined)
  })
  asked.on('error', () => {
    if (!outgoing.headersSent) answer(outgoing, 502, 'Signalbox does not answer here yet.')
  })
  outgoing.once('close', () => asked.destroy())
  incoming.pipe(asked)
}

/** No dots: a path is passed on as it was sent, and `..` would lead to the rest. */
const PAY_PATH = /^\/pay\/[\w-]+(\?|$)/

/** As `phoneLink` makes it. */
const PHONE_PATH = /^\/sign-in\/([\w-]{38})$/

/** Leads to the page of the link, which is too long for a picture. The edge takes it once. */
async function signIn(
  code: string,
  { secret, tokens }: Pick<SharePlan, 'secret' | 'tokens'>,
  outgoing: ServerResponse,
): Promise<void> {
  const now = Date.now()
  const read = readPhoneCode(secret, code, now)
  if (!read) {
    const another = 'On the machine where Signalbox runs, signalbox sign-in --phone prints another'
    return answer(outgoing, 410, `This link has expired. ${another}.`)
  }
  const location = await signInLink(secret, { tokens, url: '' }, now, read)
  outgoing.writeHead(302, { location, ...PRIVATE }).end()
}

const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

function answer(outgoing: ServerResponse, status: number, sentence: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...PRIVATE })
  outgoing.end(`${sentence}\n`)
}
