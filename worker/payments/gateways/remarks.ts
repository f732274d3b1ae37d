// What drivers say to the doctor of their settings. Pure.

import type { Remark } from './gateway.ts'

export const error = (sentence: string): Remark => ({ level: 'error', sentence })
export const warning = (sentence: string): Remark => ({ level: 'warn', sentence })
