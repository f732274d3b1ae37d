import { describe, expect, it } from 'vitest'
import { findPorts } from '../../local/ports.ts'
import { freePort } from '../../tools/harness/free-port.ts'

describe('free ports', () => {
  it('that are found together are all different, and are free afterwards', async () => {
    const claims = await findPorts(Array.from({ length: 20 }, () => 0))
    const ports = claims.map((claim) => (claim.ok ? claim.port : 0))
    expect(new Set(ports).size).toBe(20)
    // Not each of them: other programs get ports, too.
    const again = await findPorts(ports)
    expect(again.some(({ ok }) => ok)).toBe(true)
  })

  it('that are requested twice are found once', async () => {
    const port = await freePort()
    const claims = await findPorts([port, port])
    expect(claims.map(({ ok }) => ok)).toEqual([true, false])
  })
})
