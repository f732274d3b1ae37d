// The ledger behind an object: what crosses is copied as RPC copies it, so that nothing of the port
// may lean on what does not survive that.

import { createMemoryLedger } from '../../../../worker/payments/ledger/ledger-memory.ts'
import {
  answerCall,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/ledgers-object.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ledgerContract } from '../../../contract/ledger.ts'

ledgerContract('behind an object', async (options) => {
  const { ledger, records } = createMemoryLedger(options)
  const namespace: LedgerNamespace = {
    getByName: () => ({
      call: async (name, args) =>
        structuredClone(
          await answerCall(
            () => ledger,
            { name, args: structuredClone(args) },
            () => undefined,
          ),
        ),
    }),
  }
  const behind = objectLedger({ namespace, name: 'main', clock: hostClock })
  return { ledger: behind, records, close: async () => undefined }
})
