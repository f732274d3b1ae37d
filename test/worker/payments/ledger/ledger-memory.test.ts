import { createMemoryLedger } from '../../../../worker/payments/ledger/ledger-memory.ts'
import { ledgerContract } from '../../../contract/ledger.ts'

ledgerContract('memory', async (options) => ({
  ...createMemoryLedger(options),
  close: async () => undefined,
}))
