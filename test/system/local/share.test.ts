import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { hostname, type NetworkInterfaceInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectSecurely } from 'node:tls'
import jsQr from 'jsqr'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharingText } from '../../../cli/greeting.ts'
import { findSecretFile, openSecret, type SecretLocation } from '../../../system/data/secret.ts'
import {
  lanAddresses,
  openSharing,
  type SharePlan,
  type Sharing,
} from '../../../system/local/share.ts'
import { mintTokens, phoneLink } from '../../../system/local/tokens.ts'
import { type PinnedFetch, pinnedFetch } from '../../support/pinned-https.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** In place of the edge and the simulator: answers with what it was asked. */
class Behind {
  /** Called instead of the usual answer. */
  next: ((incoming: IncomingMessage, outgoing: ServerResponse) => void) | undefined
  readonly server: Server = createServer((incoming, outgoing) => {
    const { next } = this
    this.next = undefined
    if (next) return next(incoming, outgoing)
    void text(incoming).then((body) => {
      const { method, url, headers } = incoming
      outgoing.end(JSON.stringify({ method, url, headers, body }))
    })
  })

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return (this.server.address() as AddressInfo).port
  }
}

interface Asked {
  method: string
  url: string
  headers: Record<string, string>
  body: string
}

const edge = new Behind()
const simulator = new Behind()
const [LAN] = lanAddresses()
let parent: string
let plan: SharePlan
let location: SecretLocation
let sharing: Sharing
let pem: string
beforeAll(async () => {
  parent = tempFolder()
  location = { dataDir: parent, trustsData: false, env: { HOME: parent } }
  const secret = await openSecret(location, () => undefined)
  const ports = { edge: await edge.listen(), simulator: await simulator.listen() }
  plan = {
    what: 'payments',
    location,
    secret,
    tokens: await mintTokens(secret, ['/srv/lamp'], Date.now()),
    ports,
  }
  sharing = await openSharing(plan, ['127.0.0.1'])
  pem = await certificate()
})
afterAll(async () => {
  await sharing.close()
  edge.server.close()
  simulator.server.close()
})

async function certificate(): Promise<string> {
  const secret = (await findSecretFile(location)) ?? ''
  return await readFile(join(dirname(secret), 'certificate.pem'), 'utf8')
}
const fetchAt = (origin = sharing.shared?.urls[0] ?? '', ca = pem): PinnedFetch =>
  pinnedFetch(origin, ca)
const asked = async (answer: Response) => (await answer.json()) as Asked

describe('the https port of a shared system', () => {
  it('passes a request on with its Host, and says itself who asked', async () => {
    const fetch = fetchAt()
    const headers = {
      cookie: 'a=1; b=2',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'localhost',
    }
    const answer = await fetch('/api/x?y=%20z', { method: 'POST', headers, body: 'ä'.repeat(9e4) })
    expect(answer.status).toBe(200)
    const got = await asked(answer)
    const { host } = new URL(sharing.shared?.urls[0] ?? '')
    expect(got).toMatchObject({ method: 'POST', url: '/api/x?y=%20z', body: 'ä'.repeat(9e4) })
    expect(got.headers).toMatchObject({
      host,
      cookie: 'a=1; b=2',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': host,
    })
  })

  it('passes answers on as they are: status, every cookie, no body where there is none', async () => {
    const fetch = fetchAt()
    edge.next = (_, outgoing) =>
      outgoing.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], etag: '"t"' }).end('made')
    const made = await fetch('/')
    expect([
      made.status,
      made.headers.getSetCookie(),
      made.headers.get('etag'),
      await made.text(),
    ]).toEqual([201, ['a=1', 'b=2'], '"t"', 'made'])
    edge.next = (_, outgoing) => outgoing.writeHead(304, { etag: '"t"' }).end()
    expect((await fetch('/')).status).toBe(304)
    const head = await fetch('/', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('passes on each part of a stream at once, and ends it for both when one ends', async () => {
    const fetch = fetchAt()
    let stream: ServerResponse | undefined
    edge.next = (_, outgoing) => {
      stream = outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.flushHeaders()
    }
    // It has no byte yet.
    const answer = await fetch('/api/events')
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const reader = answer.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>
    for (const part of [': connected\n\n', ': ping\n\n']) {
      stream?.write(part)
      const { value } = await reader.read()
      expect(new TextDecoder().decode(value)).toBe(part)
    }
    await reader.cancel()
    await expect.poll(() => stream?.destroyed).toBe(true)

    edge.next = (_, outgoing) => {
      stream = outgoing.writeHead(200)
      outgoing.write('half')
    }
    const broken = await fetch('/')
    stream?.destroy()
    await expect(broken.text()).rejects.toThrow()
  })

  it('goes on after a client that left while it sent, and after one that is no TLS', async () => {
    const fetch = fetchAt()
    const { port } = new URL(sharing.shared?.urls[0] ?? '')
    const isLost = new Promise<void>((resolve) => {
      edge.next = (incoming) => incoming.once('close', resolve)
    })
    const headers = { 'content-length': 1e6 }
    const location = { host: '127.0.0.1', port, ca: pem, method: 'POST', path: '/', headers }
    const sending = request(location).on('error', () => undefined)
    sending.write('half')
    const reached = new Promise((resolve) => edge.server.once('request', resolve))
    await reached
    sending.destroy()
    await isLost
    const other = connect({ host: '127.0.0.1', port: Number(port) }).end(Buffer.from([0x16, 1, 2]))
    other.on('error', () => undefined)
    await once(other.resume(), 'close')
    expect((await fetch('/')).status).toBe(200)
  })

  it('leads a browser that speaks plain http to https, in one sentence', async () => {
    const { host, port } = new URL(sharing.shared?.urls[0] ?? '')
    const plain = `http://127.0.0.1:${port}/sign-in/x?y=1`
    const led = await globalThis.fetch(plain, { redirect: 'manual' })
    const location = `https://${host}/sign-in/x?y=1`
    expect([led.status, led.headers.get('location')]).toEqual([307, location])
    expect(await led.text()).toBe('This port speaks https alone.\n')
    const socket = connect({ host: '127.0.0.1', port: Number(port) })
    socket.end('GET / HTTP/1.0\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n.*https alone/s)
  })

  it('ends at once, though somebody is connected who sends nothing', async () => {
    const second = await openSharing({ ...plan, what: 'network' }, ['127.0.0.1'])
    const { port } = new URL(second.shared?.urls[0] ?? '')
    const silent = connect({ host: '127.0.0.1', port: Number(port) })
    silent.on('error', () => undefined)
    await once(silent, 'connect')
    const ended = once(silent.resume(), 'close')
    await second.close()
    await ended
  })

  it('cuts a connection on which nothing comes, also in the middle of a request', async () => {
    const limits = { silenceMs: 200, headMs: 60_000, connections: 16 }
    const second = await openSharing({ ...plan, what: 'network' }, ['127.0.0.1'], limits)
    const { port } = new URL(second.shared?.urls[0] ?? '')
    for (const begun of ['', 'GET / HT', '\x16\x03\x01']) {
      const silent = connect({ host: '127.0.0.1', port: Number(port) })
      silent.on('error', () => undefined)
      silent.write(begun)
      await once(silent.resume(), 'close')
    }
    const secure = connectSecurely({
      host: '127.0.0.1',
      port: Number(port),
      rejectUnauthorized: false,
    })
    secure.on('error', () => undefined)
    await once(secure, 'secureConnect')
    secure.write('GET / HT')
    await once(secure.resume(), 'close')
    await second.close()
  })

  it('cuts a connection whose request does not become whole, though a byte comes now and then', async () => {
    const limits = { silenceMs: 60_000, headMs: 300, connections: 16 }
    const second = await openSharing({ ...plan, what: 'network' }, ['127.0.0.1'], limits)
    const { port } = new URL(second.shared?.urls[0] ?? '')
    const at = { host: '127.0.0.1', port: Number(port) }
    for (const socket of [connect(at), connectSecurely({ ...at, rejectUnauthorized: false })]) {
      socket.on('error', () => undefined)
      socket.write('GET / HTTP/1.1\r\nx: ')
      const dripping = setInterval(() => socket.write('x'), 20)
      await new Promise((resolve) => socket.resume().once('close', resolve))
      clearInterval(dripping)
    }
    await second.close()
  })

  it('holds so many connections of one address, and so many in all', async () => {
    const limits = { silenceMs: 60_000, headMs: 60_000, connections: 16 }
    const second = await openSharing({ ...plan, what: 'network' }, ['127.0.0.1'], limits)
    const { port } = new URL(second.shared?.urls[0] ?? '')
    const sockets: Socket[] = []
    const isKept = async (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress })
      sockets.push(socket)
      socket.on('error', () => undefined)
      // It answers a request, or closes.
      socket.write('GET / HTTP/1.1\r\nHost: lamp.test\r\n\r\n')
      return await new Promise<boolean>((resolve) => {
        socket.once('data', () => resolve(true)).once('close', () => resolve(false))
      })
    }
    const kept = async (address: string, times: number) => {
      const all: boolean[] = []
      for (let n = 0; n < times; n++) all.push(await isKept(address))
      return all.filter(Boolean).length
    }
    expect(await kept('127.0.0.1', 3)).toBe(2)
    let others = 0
    for (let n = 2; n < 10; n++) others += await kept(`127.0.0.${n}`, 2)
    expect(others).toBe(14)
    for (const socket of sockets) socket.destroy()
    await second.close()
  })

  it('refuses a bound on connections that is no number', async () => {
    const env = { ...location.env, SHARE_CONNECTIONS: 'many' }
    const wrong = openSharing({ ...plan, location: { ...location, env } }, ['127.0.0.1'])
    await expect(wrong).rejects.toMatchObject({ code: 'bad_configuration' })
  })

  it('answers 502 while nothing listens behind it', async () => {
    const ports = { ...plan.ports, edge: 1 }
    const early = await openSharing({ ...plan, what: 'network', ports }, ['127.0.0.1'])
    const answer = await fetchAt(early.shared?.urls[0])('/')
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringMatching(/\.\n$/)])
    await early.close()
  })

  it('takes another port where its own is taken', async () => {
    const second = await openSharing({ ...plan, what: 'network' }, ['127.0.0.1'])
    expect(second.shared?.urls[0]).not.toBe(sharing.shared?.urls[0])
    // Made for both, since it was kept.
    expect(second.shared?.fingerprint).toBe(sharing.shared?.fingerprint)
    expect(second.simulator).toBeUndefined()
    await second.close()
  })

  it('shares the payment pages of the simulator, and nothing else of it', async () => {
    const fetch = fetchAt(sharing.simulator)
    const { host, origin } = new URL(sharing.simulator ?? '')
    const paid = await fetch('/pay/1', { method: 'POST', headers: { origin }, body: 'action=pay' })
    expect(await asked(paid)).toMatchObject({
      method: 'POST',
      url: '/pay/1',
      body: 'action=pay',
      headers: { host, origin },
    })
    const others = ['/', '/health', '/_control', '/_control/payments', '/oauth2/token', '/pay']
    const outwards = ['/pay/../_control', '/pay/%2e%2e/_control', '/pay/..\\_control', '/pay/1/x']
    for (const path of [...others, ...outwards]) {
      expect((await fetch(path, { method: 'POST' })).status, path).toBe(404)
    }
  })

  it('refuses a request that names no host, or one in its target as well', async () => {
    const fetch = fetchAt()
    for (const path of ['http://127.0.0.1/api', 'https://localhost:1/', '*']) {
      expect((await fetch(path)).status, path).toBe(400)
    }
    expect((await fetch('/', { headers: { host: 'no host' } })).status).toBe(400)
  })

  it.skipIf(LAN === undefined)('lets no other machine pass for this one', async () => {
    const { port } = new URL(sharing.shared?.urls[0] ?? '')
    // Its own name is not in this certificate.
    const there = fetchAt(`https://${LAN}:${port}`)
    await expect(there('/')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    const shared = await openSharing({ ...plan, what: 'network' })
    const [url = ''] = shared.shared?.urls ?? []
    const fetch = fetchAt(url, await certificate())
    expect((await asked(await fetch('/'))).headers.host).toBe(new URL(url).host)
    for (const host of ['localhost', '127.0.0.1:8787', '[::1]', 'LOCALHOST:1']) {
      expect((await fetch('/', { headers: { host } })).status, host).toBe(421)
    }
    const named = await fetch('/', { headers: { host: 'lamp.home:8788' } })
    expect((await asked(named)).headers.host).toBe('lamp.home:8788')
    await shared.close()
  })

  it('opens nothing for the lines, and says that a machine without a network cannot share', async () => {
    const lines = await openSharing({ ...plan, what: 'lines' }, [])
    expect(lines).toEqual({ close: expect.any(Function) })
    const { edge, simulator } = plan.ports
    const forwards = [edge, simulator].map((port) => `-L ${port}:127.0.0.1:${port}`).join(' ')
    const printed = sharingText(lines, plan.ports, true)
    expect(printed).toContain(`ssh -N ${forwards} ${hostname()}\n`)
    expect(printed).toContain(`--to 127.0.0.1:${edge}\n`)
    expect(printed).toContain(`tailscale serve --bg ${edge}\n`)
    await expect(openSharing({ ...plan, what: 'network' }, [])).rejects.toThrow(/--share=lines/)
  })
})

/** What a camera sees of the lines that are drawn light on dark: two modules in each character. */
function scan(text: string): string | undefined {
  const lines = text.match(/^ {2}\S*[█▀▄ ]{20,}\S*$/gm) ?? []
  const rows = lines.flatMap((line) => {
    const signs = [...line.replaceAll(/[^█▀▄ ]/g, '').slice(2)]
    return ['█▀', '█▄'].map((light) => signs.map((sign) => light.includes(sign)))
  })
  const SIDE = 4
  const [width, height] = [(rows[0]?.length ?? 0) * SIDE, rows.length * SIDE]
  const pixels = new Uint8ClampedArray(width * height * 4).map((_, at) => {
    const [x, y] = [Math.floor(((at >> 2) % width) / SIDE), Math.floor((at >> 2) / width / SIDE)]
    return at % 4 === 3 || rows[y]?.[x] ? 255 : 0
  })
  return jsQr(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data
}

describe('the link for a phone', () => {
  const NOW = Date.now()
  const pathOf = (at = NOW) => phoneLink(plan.secret, '', at)

  it('is short, and leads to a sign-in link with one code, however often it is opened', async () => {
    const fetch = fetchAt()
    const path = pathOf()
    expect(path).toMatch(/^\/sign-in\/[\w-]{38}$/)
    const answers = [await fetch(path), await fetch(path)]
    const claims = answers.map(({ status, headers }) => {
      expect(status).toBe(302)
      expect(headers.get('cache-control')).toBe('no-store')
      const [, code = ''] = /^\/#\/sign-in\/(\S+)$/.exec(headers.get('location') ?? '') ?? []
      return JSON.parse(Buffer.from(code.split('.')[1] ?? '', 'base64url').toString()) as object
    })
    expect(claims[0]).toMatchObject({ repos: ['/srv/lamp'], aud: 'signalbox:sign-in' })
    expect(claims[1]).toEqual(claims[0])
    expect((claims[0] as { exp: number }).exp).toBe(Math.floor((NOW + 600_000) / 1_000))
  })

  it('is in a picture that a camera reads, and that a terminal has room for', () => {
    for (const isTerminal of [true, false]) {
      const printed = sharingText(sharing, plan.ports, isTerminal)
      const [link] = /^https:\S+(?=$)/m.exec(printed.replaceAll(/^ +/gm, '')) ?? []
      expect(link).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{38}$/)
      expect(scan(printed)).toBe(link)
      expect(printed.split('\n').length).toBeLessThan(40)
      expect(printed).toContain(`\n  ${sharing.shared?.fingerprint}\n`)
    }
    expect(sharingText(sharing, plan.ports, false)).not.toContain('\x1b')
  })

  it('is refused after ten minutes, changed, or of another data folder', async () => {
    const fetch = fetchAt()
    const path = pathOf()
    const other = phoneLink('another-secret-of-a-data-folder-43-characters', '', NOW)
    const changed = `${path.slice(0, 12)}${path[12] === 'A' ? 'B' : 'A'}${path.slice(13)}`
    const later = `${path.slice(0, 27)}${path[27] === 'A' ? 'B' : 'A'}${path.slice(28)}`
    for (const bad of [pathOf(NOW - 600_000), other, changed, later]) {
      const answer = await fetch(bad)
      expect(answer.status).toBe(410)
      expect(await answer.text()).toContain('signalbox sign-in --phone')
    }
    // Anything else there belongs to the host application.
    expect(await asked(await fetch('/sign-in/x'))).toMatchObject({ url: '/sign-in/x' })
  })
})

describe('the addresses of this machine', () => {
  const address = (address: string, more: object = {}) =>
    ({ address, family: 'IPv4', internal: false, ...more }) as NetworkInterfaceInfo

  it('are those of local networks, and of hardware first', () => {
    const all = {
      lo: [address('127.0.0.1', { internal: true })],
      docker0: [address('172.17.0.1')],
      utun3: [address('100.101.102.103')],
      eth0: [address('203.0.113.9'), address('fe80::1', { family: 'IPv6' }), address('8.8.8.8')],
      wlan0: [address('192.168.1.5')],
      eth1: [address('10.1.2.3')],
    }
    expect(lanAddresses(all)).toEqual(['192.168.1.5', '10.1.2.3', '172.17.0.1', '100.101.102.103'])
    expect(lanAddresses({})).toEqual([])
  })
})
