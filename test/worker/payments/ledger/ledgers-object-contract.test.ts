// The contract of the ledger, for a ledger in an object. Arguments and results are copied as RPC
// copies them, so the port may contain only what survives that.

import {
  answerCall,
  answerWebhook,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/rpc.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ledgerContract } from '../../../contract/ledger.ts'
import { sqliteLedger } from '../../../support/sqlite-ledger.ts'

const quiet = () => undefined

ledgerContract('behind an object', async (options) => {
  const { ledger, queries } = sqliteLedger(options)
  const namespace: LedgerNamespace = {
    getByName: () => ({
      call: async (name, args) =>
        structuredClone(
          await answerCall(() => ledger, { name, args: structuredClone(args) }, quiet),
        ),
      webhook: (arrival) => answerWebhook(() => ledger, arrival, quiet),
    }),
  }
  const behind = objectLedger({ namespace, name: 'main', clock: hostClock })
  return { ledger: behind, outbox: ledger, queries, close: async () => undefined }
})
