// What a client subscribes to, as far as its token goes: the SDK would deliver any subscription.

import * as z from 'zod'
import type { Caller } from './caller.ts'
import { namedIn } from './resources.ts'

const listenSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})
const cancelSchema = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: z.union([z.string(), z.number()]) }),
})

export interface Subscription<Message> {
  id: string | number
  uris: readonly string[]
  /** The request without those of other boards: it is what the client gets acknowledged. */
  message: Message
}

/** Undefined: the message is no subscription to resources. */
export async function subscriptionIn<Message>(
  message: Message,
  caller: Caller,
): Promise<Subscription<Message> | undefined> {
  const asked = listenSchema.safeParse(message).data
  if (!asked) return undefined
  const { id, params } = asked
  const { notifications } = params
  const uris: string[] = []
  for (const uri of notifications.resourceSubscriptions) {
    const named = namedIn(uri)
    if (named && (await caller.covers(named.board))) uris.push(uri)
  }
  const narrowed = { ...notifications, resourceSubscriptions: uris }
  const own = { ...asked, params: { ...params, notifications: narrowed } }
  return { id, uris, message: own as Message }
}

export const cancelledIn = (message: unknown): string | number | undefined =>
  cancelSchema.safeParse(message).data?.params.requestId
