// What docs/payments.md says beside the code is what the code does.

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { WEBHOOK_ROUTES } from '../../worker/payments/webhooks/route-names.ts'

it('docs/payments.md names each route that gateways call back, with its path', async () => {
  const docs = await readFile('docs/payments.md', 'utf8')
  for (const [name, path] of Object.entries(WEBHOOK_ROUTES)) {
    expect(docs).toContain(`| \`${name}\` | \`POST ${path}\` |`)
  }
})
