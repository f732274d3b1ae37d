// docs/alerts.yml: each rule fires for the values of something that happened here, and for nothing
// before it.

import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rename, utimes } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { openBoards } from '../../sidecar/boards/open-boards.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { callTransport } from '../../sidecar/publish/transport.ts'
import type { Watch, WatchEvents } from '../../sidecar/watch/watch.ts'
import { backupMetric, noteBackup } from '../../system/database/backup/backup.ts'
import { openCertificate } from '../../system/local/certificate.ts'
import { boardMetrics } from '../../worker/board/metrics.ts'
import { ProcessRepositories } from '../../worker/board/repository/repositories-process.ts'
import type { BoardReport, SyncRequest } from '../../worker/board/wire.ts'
import { healthCheck, healthMetric, healthReport } from '../../worker/healthz-process.ts'
import { Installation } from '../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { countingLog } from '../../worker/payments/metrics.ts'
import { watchEnds } from '../../worker/shared/ends-node.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { metricsText, processMetrics, serveMetrics } from '../../worker/shared/metrics-node.ts'
import { diagnose, FIB, fakeEdge, REDIRECT, STRIPE } from '../cli/payments/fake-system.ts'
import { token } from '../support/edge.ts'
import { expectFired, RULES, type Scrape } from '../support/fired-alerts.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { noPromtool, PROMTOOL } from '../support/judges.ts'
import { PATIENT } from '../support/patience.ts'
import { processHost } from '../support/process-host.ts'
import { makeFolder, tempFolder, writeFiles } from '../support/temp-folder.ts'
import { meteredPayments, ORDER } from '../worker/payments/metered-payments.ts'

const judged = describe.skipIf(noPromtool !== '')

judged(`docs/alerts.yml${noPromtool}`, () => {
  it('is accepted by promtool', () => {
    const { status, stdout, stderr } = spawnSync(PROMTOOL, ['check', 'rules', RULES], {
      encoding: 'utf8',
    })
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
  })
})

judged(`the rules of payments${noPromtool}`, () => {
  type Payments = ReturnType<typeof meteredPayments>
  let payments: Payments
  beforeEach(() => {
    payments = meteredPayments()
  })
  const scrape = async (): Promise<Scrape> => {
    await payments.payments.sweeper.sweep()
    return metricsText(payments.metrics)
  }
  /** What fires after it, and not before. */
  const after = async (happening: (it: Payments) => Promise<unknown>, ...rules: string[]) => {
    await payments.charge()
    const before = await scrape()
    await happening(payments)
    await expectFired([before, await scrape()], rules)
  }

  it('fire for none of what every shop has: a payment that is paid', () =>
    after(({ webhook }) => webhook({})))

  it('fire for a payment that a person has to look at', () =>
    after(({ webhook }) => webhook({ amount: 400 }), 'SignalboxAlertOpen'))

  it('fire for a gateway that does not work', () =>
    after(async ({ fetched, payments: { charge } }) => {
      fetched.status = 503
      for (let n = 0; n < 10; n++) {
        const order = { ...ORDER, reference: `order-${n}`, description: 'A lamp' }
        await charge(order).catch(() => undefined)
      }
    }, 'SignalboxCircuitOpen'))

  it('fire for a shop that takes no events', () =>
    after(async ({ webhook, clock }) => {
      await webhook({})
      await clock.advance(660_000)
    }, 'SignalboxOutboxOld'))

  it('fire for a database that is away: for its writes, its webhooks and its sweeps', () =>
    after(
      async ({ away, webhook, clock }) => {
        away(true)
        const answer = webhook({})
        for (let n = 0; n < 60; n++) await clock.advance(1_000)
        expect(await answer).toBe('unavailable')
      },
      'SignalboxDatabaseRefuses',
      'SignalboxSweepFails',
      'SignalboxWebhooksFail',
    ))

  it('fire for forged webhooks, and for old ones', async () => {
    await after(({ webhook }) => webhook('forged'), 'SignalboxWebhooksForged')
    payments = meteredPayments()
    await after(
      ({ webhook, clock }) => webhook({ occurredAt: clock.now() - 3_600_000 }),
      'SignalboxWebhooksStale',
    )
  })

  it('fire for nothing that the doctor sends', async () => {
    const own = { ...REDIRECT, ...FIB, ...STRIPE }
    const edge = await fakeEdge(own)
    onTestFinished(() => edge.close())
    const nowhere = 'http://127.0.0.1:1'
    const bases = ['REDIRECT_GATEWAY', 'FIB', 'STRIPE'].map((it) => [`${it}_BASE_URL`, nowhere])
    const env = { ...own, LIBSQL_URL: nowhere, ...Object.fromEntries(bases) }
    const metrics = new Metrics()
    const log = countingLog(metrics, ['redirect', 'fib', 'stripe'], () => undefined)
    const before = metricsText(metrics)
    await diagnose(`--edge ${edge.url}`, env)
    for (const { level, event, fields } of edge.lines) log(level, event, fields)
    expect(metricsText(metrics)).toContain('outcome="probe"} 1')
    await expectFired([before, metricsText(metrics)], [])
  })

  it('fire without a backup where there are payments, and nowhere else', async () => {
    const folder = tempFolder()
    backupMetric(payments.metrics, folder)
    const empty = await scrape()
    await expectFired([empty, empty], [])
    await payments.charge()
    await expectFired([empty, await scrape()], ['SignalboxBackupOld'])
    await noteBackup(folder)
    const noted = await scrape()
    const old = Date.now() / 1_000 - 1_200
    await utimes(join(folder, 'last-backup'), old, old)
    await expectFired([noted, await scrape()], ['SignalboxBackupOld'])
  })
})

judged(`the rules of a process${noPromtool}`, () => {
  let metrics: Metrics
  beforeEach(() => {
    metrics = new Metrics()
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('fire for one that does not answer', async () => {
    const server = await serveMetrics(metrics, { hostname: '127.0.0.1', port: 0 })
    const scrape = async (): Promise<Scrape> => {
      const answer = fetch(`http://127.0.0.1:${server.port}/metrics`)
      return await answer.then((it) => it.text()).catch(() => undefined)
    }
    const before = await scrape()
    await server.close()
    await expectFired([before, await scrape()], ['SignalboxDown'])
  })

  it('fire for a folder that cannot be written', async () => {
    const folder = tempFolder()
    const clock = new FakeClock()
    const hasRoom = async () => false
    const installation = new Installation()
    const check = healthCheck({ database: () => undefined, installation, folder, clock, hasRoom })
    const { signal } = new AbortController()
    const report = healthReport({ check, ...healthMetric(metrics), log: () => undefined, signal })
    await report()
    const before = metricsText(metrics)
    await mkdir(join(folder, 'healthz.tmp/in-the-way'), { recursive: true })
    await clock.advance(10_000)
    await report()
    await expectFired([before, metricsText(metrics)], ['SignalboxUnhealthy'])
  })

  it('fire for a clock that was moved', async () => {
    processMetrics(metrics)
    const before = metricsText(metrics)
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 3_600_000)
    const after = metricsText(metrics)
    vi.restoreAllMocks()
    await expectFired([before, after], ['SignalboxClockMoved'])
  })

  it('fire for one that has few descriptors left', async () => {
    const metricsOf = (files: number): Scrape => {
      const url = (name: string) => JSON.stringify(resolve(`worker/shared/${name}.ts`))
      const program = `
        const { openSync } = await import('node:fs')
        const { Metrics } = await import(${url('metrics')})
        const { metricsText, processMetrics } = await import(${url('metrics-node')})
        const metrics = new Metrics()
        processMetrics(metrics)
        for (let n = 0; n < ${files}; n++) openSync('/dev/null')
        console.log(metricsText(metrics))`
      const command = `ulimit -n 256; exec "$0" --input-type=module --eval "$1"`
      const argv = ['-c', command, process.execPath, program]
      const { stdout, stderr } = spawnSync('/bin/sh', argv, { encoding: 'utf8' })
      expect(stdout, stderr).toContain('process_max_fds 256')
      return stdout
    }
    await expectFired([metricsOf(0), metricsOf(200)], ['SignalboxDescriptorsFew'])
  })

  it('fire for a certificate and for tokens that end this week', async () => {
    const day = 86_400_000
    const pem = (ageMs: number) => openCertificate(undefined, ['127.0.0.1'], Date.now() - ageMs)
    const urlOf = async (ageMs: number) => {
      const { pem: key } = await pem(ageMs)
      const server = createServer({ key, cert: key }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await vi.waitUntil(() => server.listening, PATIENT)
      return new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    }
    const end = new AbortController()
    onTestFinished(() => end.abort())
    const scrapeOf = async (leftDays: number): Promise<Scrape> => {
      const own = new Metrics()
      const text = await token({ exp: `${leftDays}d` })
      const tokens = { edge: () => text, database: () => Promise.resolve(text) }
      const url = await urlOf((365 - leftDays) * day)
      watchEnds(own, { tokens, url, signal: end.signal })
      const known = /certificate_end_timestamp_seconds [1-9]/
      await vi.waitUntil(() => known.test(metricsText(own)), PATIENT)
      return metricsText(own)
    }
    const soon = ['SignalboxCertificateEnds', 'SignalboxTokenEnds']
    await expectFired([await scrapeOf(30), await scrapeOf(3)], soon)
  })
})

judged(`the rules of access and of boards at the edge${noPromtool}`, () => {
  it('fire for a token that has ended, and for somebody who tries many', async () => {
    const metrics = new Metrics()
    const edge = processEdge({ metrics })
    const before = metricsText(metrics)
    const ended = await token({ exp: Math.floor(Date.now() / 1_000) - 60 })
    const headers = { authorization: `Bearer ${ended}` }
    expect((await edge.fetch('/api/boards', { headers })).status).toBe(401)
    await expectFired([before, metricsText(metrics)], ['SignalboxTokensRefused'])

    const signIn = { 'Content-Type': 'application/json', Origin: edge.origin }
    const tried = {
      method: 'POST',
      headers: signIn,
      body: JSON.stringify({ code: 'a.guessed.code' }),
    }
    const once = metricsText(metrics)
    for (let n = 0; n < 400; n++) await edge.fetch('/api/session', tried)
    expect(metricsText(metrics)).toContain('refused_sign_ins_total{code="unauthorized"} 400')
    await expectFired([once, metricsText(metrics)], ['SignalboxSignInsRefused'])
  })

  it('fire for a board whose sidecar is gone without a word, and for one whose folder is missing', async () => {
    const metrics = new Metrics()
    const { listed } = boardMetrics(metrics)
    let now = 1_000_000
    const clock = { now: () => now, elapsed: () => now }
    const repositories = new ProcessRepositories(processHost(clock))
    const row = (path: string, state: 'running' | 'ended', store: 'present' | 'missing') => ({
      path,
      report: { sidecar: { state, version: '1' }, store, run: 1 } as BoardReport,
      seenAt: now,
      isOffline: false,
    })
    const rows = [row('shop', 'running', 'present'), row('blog', 'ended', 'present')]
    const scrape = (more: typeof rows = []) => {
      listed([...rows, ...more], (path) => repositories.isPublishing(path))
      return metricsText(metrics)
    }
    const report = async () => {
      const asked = { step: 'root', run: null, root: '0'.repeat(32) } as const
      const store = { state: 'present', version: '1' } as const
      const answer = await repositories.open('shop').sync({ ...asked, store } as SyncRequest)
      expect(answer.ok).toBe(true)
    }
    const atStart = scrape()
    now += 60_000
    await report()
    const reported = scrape()
    expect(reported).toContain('signalbox_boards{sidecar="ended"} 1')
    await expectFired([atStart, reported], [])
    now += 49_000
    expect(scrape()).toContain('signalbox_boards{sidecar="offline"} 0')
    now += 1_000
    await expectFired([reported, scrape()], ['SignalboxBoardWithoutSidecar'])
    await report()
    const gone = scrape([row('tea', 'running', 'missing')])
    await expectFired([reported, gone], ['SignalboxBoardMissing'])
  })
})

judged(`the rules of a sidecar${noPromtool}`, () => {
  /** A board that is published to an edge of this process. */
  async function published(watch?: Watch) {
    const dir = makeFolder({
      '.cairn/config.yaml': 'prefix: T\nstates: [open]\ninitial: open\n',
      '.cairn/tasks/T-1.md': '---\ntitle: One\nstatus: open\n---\n',
    })
    const metrics = new Metrics()
    const edge = processEdge()
    const writer = await token({ repos: ['shop'] })
    let isAway = false
    const transport = callTransport(async ({ url, method, headers, body }) => {
      if (isAway) throw new TypeError('fetch failed')
      const { pathname, search } = new URL(url)
      const init = { method, headers, ...(body && { body, duplex: 'half' as const }) }
      return await edge.fetch(pathname + search, init)
    })
    const url = new URL('http://edge.test')
    const open = await openBoards({
      dirs: [dir],
      search: {},
      repo: 'shop',
      isRepoChosen: true,
      cacheDir: undefined,
      metrics,
      watch,
      runOutput: 'masked',
      version: '0.0.0',
      edgeOf: (repo) => new EdgeHttp({ url, repo, token: async () => writer, transport }),
      log: () => undefined,
    })
    const end = new AbortController()
    const { ready, ended } = open.run(end.signal)
    onTestFinished(async () => {
      end.abort()
      await ended
    })
    await ready
    const until = async (line: string): Promise<Scrape> => {
      await expect.poll(() => metricsText(metrics), PATIENT).toContain(`\n${line}\n`)
      return metricsText(metrics)
    }
    const cut = () => {
      isAway = true
    }
    return { dir, until, cut, before: await until('signalbox_sidecar_connected 1') }
  }

  it('fire for a board that does not reach its edge', async () => {
    const { dir, until, cut, before } = await published()
    cut()
    writeFiles(dir, { '.cairn/tasks/T-2.md': '---\ntitle: Two\nstatus: open\n---\n' })
    const after = await until('signalbox_sidecar_connected 0')
    await expectFired([before, after], ['SignalboxBoardNotPublished'])
  })

  it('fire for a board whose folder is gone', async () => {
    const { dir, until, before } = await published()
    await rename(join(dir, '.cairn'), join(dir, 'elsewhere'))
    const after = await until('signalbox_sidecar_boards_missing 1')
    await expectFired([before, after], ['SignalboxBoardMissing'])
  })

  it('fire for a board that the system refuses to watch', async () => {
    let fail: WatchEvents['onFailed'] = () => undefined
    const watch: Watch = async (_store, { onFailed }) => {
      fail = onFailed
      return { close: async () => undefined }
    }
    const { until, before } = await published(watch)
    fail('ENOSPC: System limit for number of file watchers reached')
    const after = await until('signalbox_sidecar_boards_unwatched 1')
    await expectFired([before, after], ['SignalboxBoardUnwatched'])
  })
})

it('have a scenario each', async () => {
  const { groups } = parse(await readFile(RULES, 'utf8'))
  const rules = groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules)
  const own = await readFile('test/docs/alerts.test.ts', 'utf8')
  const names: string[] = rules.map(({ alert }: { alert: string }) => alert)
  expect(names.filter((name) => !own.includes(`'${name}'`))).toEqual([])
})
