// Shown for a payment that is open but cannot be paid: a button to replace it, with an explanation.

import type { ChargeRequest, PaymentEvents, Transaction } from '../../../api/types.ts'
import { may } from '../../data/session.ts'
import { go, route } from '../../router.ts'
import { ActionButton } from '../actions.tsx'
import { replace } from '../api.ts'
import type { Feed } from '../feed/feed.ts'
import type { Story } from '../feed/story.ts'
import { storyWords } from './words.ts'

interface StrandedProps {
  story: Story
  transaction: Transaction
  feed: Feed
}

export function Stranded({ story, transaction, feed }: StrandedProps) {
  const { stranded: texts } = storyWords
  const { id, gateway } = transaction
  const request = requestOf(story)
  const act = async () => {
    if (!request) return
    const { transactionId } = await replace(request)
    feed.refresh()
    const { query } = route.value
    if (transactionId !== id) go({ view: 'payments', id: transactionId, query })
  }
  return (
    <section class="stranded panel" aria-labelledby="stranded">
      <h2 id="stranded">{texts.title}</h2>
      <p>{texts.lead}</p>
      {request && may('payments:write') && (
        <>
          <p class="hint">{texts.explanation(gateway)}</p>
          <ActionButton label={texts.replace} act={act}>
            {texts.replace}
          </ActionButton>
        </>
      )}
    </section>
  )
}

/** The request of the host application, without the payer's phone, which is not stored. */
function requestOf({ events }: Story): ChargeRequest | undefined {
  const initiated = events.find(({ type }) => type === 'PaymentInitiated')
  const payload = initiated?.payload as PaymentEvents['PaymentInitiated'] | undefined
  return payload?.request
}
