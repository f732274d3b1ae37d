// The order that a test charge is for, and the way back from where it is paid. Pure.

import type { ChargeRequest } from '../../../worker/payments/domain/transaction.ts'
import type { GatewayHealth } from '../../../worker/payments/gateways/guard/guard.ts'
import { formatRoute } from '../../address.ts'
import { readTyped } from '../money-text.ts'

export interface Form {
  gateway: string
  /** As it was typed, in whole units. */
  amount: string
  currency: string
  description: string
}

/** In the query of the way back: opens the newest payment that the filters find. */
export const NEWEST = 'newest'

/** `page`: our own address without its fragment. Undefined: the amount is none. */
export function orderOf(form: Form, reference: string, page: string): ChargeRequest | undefined {
  const { gateway, currency, description } = form
  const amount = readTyped(form.amount, currency)
  if (amount === undefined) return undefined
  const returnUrl = page + formatRoute({ view: 'payments', query: { reference, open: NEWEST } })
  return { gateway, reference, amount, currency, description, returnUrl }
}

/** What a driver that says nothing of currencies is offered. */
const USUAL = ['IQD', 'USD', 'EUR'] as const

export const currenciesOf = ({ currencies }: GatewayHealth): readonly string[] =>
  currencies ?? USUAL

/** A round sum that looks like one. */
export const exampleAmount = (currency: string): string => (currency === 'IQD' ? '25000' : '12.50')
