import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { followEvents } from '../../../tools/start/follow-events.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'

it('shows the events that an edge in another process prints, each once and whole', async () => {
  const dir = tempFolder()
  const log = join(dir, 'workerd.log')
  const shown: string[] = []
  const end = new AbortController()
  await writeFile(log, '{"event":"ready"}\nPaymentFailed order-1: No.\nPaymentCanc')
  const followed = followEvents(log, (text) => shown.push(text), end.signal)
  await expect.poll(() => shown, PATIENT).toHaveLength(1)
  await appendFile(log, 'elled order-2: Expired\nPayments are open\nAlertRaised é: dispute\n')
  await expect.poll(() => shown, PATIENT).toHaveLength(3)
  await appendFile(log, 'PaymentRefunded order-3: 250 IQD\n')
  end.abort()
  await followed
  expect(shown).toEqual([
    'PaymentFailed order-1: No.\n',
    'PaymentCancelled order-2: Expired\n',
    'AlertRaised é: dispute\n',
    'PaymentRefunded order-3: 250 IQD\n',
  ])
})
