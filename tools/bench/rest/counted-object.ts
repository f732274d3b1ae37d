// Makes an object's class write down what Cloudflare counts: that it was constructed, that its
// alarm went off, and the rows that it wrote.

import type { DurableObject } from 'cloudflare:workers'
import { COUNTED, type Counted } from './counts.ts'

type ObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject

/** The runtime prints it. */
const note = (counted: Counted) => console.log(`${COUNTED}${JSON.stringify(counted)}`)

export function counted<Base extends ObjectClass>(base: Base): ObjectClass {
  return class extends (base as ObjectClass) {
    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      note({ constructions: 1 })
      countRows(ctx.storage)
      super(ctx, env)
    }

    override alarm(...about: [AlarmInvocationInfo?]): void | Promise<void> {
      note({ alarms: 1 })
      return super.alarm?.(...about)
    }
  }
}

/** Our objects read all rows of a statement at once. */
function countRows(storage: DurableObjectStorage): void {
  const { sql } = storage
  const exec = sql.exec.bind(sql)
  const setAlarm = storage.setAlarm.bind(storage)
  sql.exec = ((...statement: Parameters<typeof exec>) => {
    const cursor = exec(...statement)
    return {
      toArray() {
        const rows = cursor.toArray()
        if (cursor.rowsWritten > 0) note({ rows: cursor.rowsWritten })
        return rows
      },
    }
  }) as typeof sql.exec
  // It is billed as a row.
  storage.setAlarm = (...at) => {
    note({ rows: 1 })
    return setAlarm(...at)
  }
}
