// Makes an object's class write down what Cloudflare counts: that it was constructed, that its
// alarm went off, and the rows that it wrote.

import type { DurableObject } from 'cloudflare:workers'

type ObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject

/** The runtime prints it; rest.ts adds it up. */
const note = (what: 'constructions' | 'alarms' | 'rows', count = 1) =>
  console.log(`counted ${what} ${count}`)

export function counted<Base extends ObjectClass>(base: Base): ObjectClass {
  return class extends (base as ObjectClass) {
    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      note('constructions')
      countRows(ctx.storage)
      super(ctx, env)
    }

    override alarm(...about: [AlarmInvocationInfo?]): void | Promise<void> {
      note('alarms')
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
        if (cursor.rowsWritten > 0) note('rows', cursor.rowsWritten)
        return rows
      },
    }
  }) as typeof sql.exec
  // It is billed as a row.
  storage.setAlarm = (...at) => {
    note('rows')
    return setAlarm(...at)
  }
}
