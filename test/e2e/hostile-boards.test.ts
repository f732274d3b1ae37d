// Webhooks beside hostile boards, in the one process that has both: each is answered, and the
// process ends when it is asked to. `HOSTILE_BOARDS_MINUTES=10` goes on for so long with the package
// as users get it, and on a quiet machine no webhook waits over 300 ms.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { redirect } from '../../simulator/redirect.ts'
import { hostileFile, LAYOUTS, WHOLE } from '../support/hostile-boards.ts'
import { installPackage } from '../support/installed-package.ts'
import { type Launch, oneProcess, type Start, Starts } from '../support/local-system.ts'
import { Dice } from '../support/odd-boards.ts'
import { tempFolder } from '../support/temp-folder.ts'

const { HOSTILE_BOARDS_SEED = '1', HOSTILE_BOARDS_MINUTES } = process.env
const FOR_MS = Number(HOSTILE_BOARDS_MINUTES ?? 0.1) * 60_000
const EVERY_MS = 50
/** Files are changed as often as an agent could. */
const FILE_EVERY_MS = 500
const MOST_MS = 300

const starts = new Starts()
afterAll(() => starts.clear())

async function packed(): Promise<Launch> {
  const { folder } = await installPackage()
  return (args) => {
    const {
      command,
      args: [, ...own],
    } = oneProcess(args)
    return { command, args: [join(folder, 'node_modules/.bin/signalbox'), ...own] }
  }
}

async function webhooks(
  system: Start,
  until: number,
): Promise<{ statuses: Set<number>; most: number }> {
  const { url, gateways } = await system.local()
  const key = gateways?.redirect?.api_key ?? ''
  const { gatewayTransactionId } = await system.charge('tea')
  const amount = { currency: 'IQD', value: 25_000 }
  const data = {
    transactionId: gatewayTransactionId,
    currentStatus: 'SUCCESS',
    orderId: 'tea',
    amount,
  }
  const statuses = new Set<number>()
  let most = 0
  const send = async () => {
    const from = performance.now()
    const timestamp = new Date().toISOString()
    const content = { eventType: 'STATUS_CHANGED', eventId: crypto.randomUUID(), timestamp, data }
    const sent = await redirect.webhooks.encode({ content }, key)
    const answer = await fetch(`${url}/payments/webhooks/redirect`, { method: 'POST', ...sent })
    await answer.text()
    statuses.add(answer.status)
    most = Math.max(most, performance.now() - from)
  }
  const all: Promise<void>[] = []
  while (performance.now() < until) {
    all.push(send())
    await sleep(EVERY_MS)
  }
  await Promise.all(all)
  return { statuses, most }
}

it('answers each webhook beside hostile boards, and ends when asked', {
  timeout: 900_000,
}, async () => {
  const top = tempFolder()
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), text)
  }
  for (const layout of LAYOUTS)
    for (const [path, text] of Object.entries(WHOLE[layout])) await put(`${layout}/${path}`, text)
  const launch = HOSTILE_BOARDS_MINUTES ? await packed() : oneProcess
  const system = await (await starts.start({ launch, storeDir: top })).ready()
  const until = performance.now() + FOR_MS
  const sending = webhooks(system, until)
  const made: string[] = []
  for (let n = 0; performance.now() < until; n++) {
    const file = hostileFile(new Dice(`${HOSTILE_BOARDS_SEED}:${n}`))
    made.push(`board ${n} of seed ${HOSTILE_BOARDS_SEED}: ${file.made}`)
    await put(`${file.layout}/${file.path}`, file.text)
    await sleep(FILE_EVERY_MS)
  }
  const { statuses, most } = await sending
  expect(statuses, made.join('\n')).toEqual(new Set([200]))
  if (HOSTILE_BOARDS_MINUTES) expect(most).toBeLessThan(MOST_MS)
  system.process.kill('SIGTERM')
  expect((await system.ended).code).toBe(0)
})
