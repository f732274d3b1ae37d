// The order of a test charge, with its return URL. Pure.

import type { ChargeRequest, Gateway } from '../../api/types.ts'
import { minorUnits } from '../../worker/payments/domain/money.ts'
import { formatRoute } from '../address.ts'
import { parseAmount } from './texts.ts'

export interface Order {
  gateway: string
  /** As typed, in major units. */
  amount: string
  currency: string
  description: string
}

/** In the query of the return URL: opens the newest payment that matches the filters. */
export const NEWEST = 'newest'

/** `page`: our own URL without the fragment. Undefined: the amount is invalid. */
export function orderOf(order: Order, reference: string, page: string): ChargeRequest | undefined {
  const { gateway, currency, description } = order
  const amount = parseAmount(order.amount, currency)
  if (amount === undefined) return undefined
  const returnUrl = page + formatRoute({ view: 'payments', query: { reference, open: NEWEST } })
  return { gateway, reference, amount, currency, description, returnUrl }
}

/** For a driver that does not list its currencies. */
const DEFAULT_CURRENCIES = ['IQD', 'USD', 'EUR'] as const

export const currenciesOf = ({ currencies }: Gateway): readonly string[] =>
  currencies ?? DEFAULT_CURRENCIES

/** A typical amount, as a person types it. */
export const exampleAmount = (currency: string): string =>
  minorUnits(currency) === 1 ? '25000' : '12.50'
