import { createMemoryLedger } from '../../../../worker/payments/ledger/ledger-memory.ts'
import { ledgerContract } from '../../../contract/ledger.ts'

ledgerContract('memory', async (options) => {
  const { ledger, records } = createMemoryLedger(options)
  return { ledger, outbox: ledger, records, close: async () => undefined }
})
