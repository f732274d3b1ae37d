// What one check of the doctor found.

export interface Finding {
  /** Of what was checked. */
  name: string
  state: 'ok' | 'warn' | 'fail'
  /** One sentence. */
  says: string
}
