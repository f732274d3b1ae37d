// The facts of a payment: ids, times, amounts.

import type { Transaction } from '../../../api/types.ts'
import { Fact } from '../../ui/fact.tsx'
import { Time } from '../../ui/time.tsx'
import { Copyable, isWeb, Money } from '../elements.tsx'
import { storyWords } from './words.ts'

export function Facts({ transaction }: { transaction: Transaction }) {
  const { gateway, attempt, description, createdAt, updatedAt, paidAt, expiresAt } = transaction
  const { status, redirectUrl, metadata, paid } = transaction
  return (
    <section class="facts panel" aria-labelledby="facts">
      <h2 id="facts">{storyWords.facts}</h2>
      <dl>
        <Fact name={storyWords.description}>{description}</Fact>
        <Fact name={storyWords.gateway}>{gateway}</Fact>
        <Id name={storyWords.id} text={transaction.id} />
        <Id name={storyWords.gatewayId} text={transaction.gatewayTransactionId} />
        <Id name={storyWords.externalId} text={transaction.externalReferenceId} />
        <Id name={storyWords.correlation} text={transaction.correlationId} />
        <Fact name={storyWords.attempt}>{attempt > 1 && attempt}</Fact>
        <Fact name={storyWords.repeat}>{transaction.isRepeat && storyWords.onPurpose}</Fact>
        <Fact name={storyWords.created}>
          <Time at={createdAt} />
        </Fact>
        <Fact name={storyWords.paid}>{paidAt && <Time at={paidAt} />}</Fact>
        <Fact name={storyWords.paidAmount}>{paid && <Money {...paid} />}</Fact>
        <Fact name={storyWords.updated}>{updatedAt !== createdAt && <Time at={updatedAt} />}</Fact>
        <Fact name={storyWords.expires}>
          {status === 'Pending' && expiresAt && <Time at={expiresAt} />}
        </Fact>
        {Object.entries(metadata ?? {}).map(([name, value]) => (
          <Fact key={name} name={name}>
            {String(value)}
          </Fact>
        ))}
      </dl>
      {status === 'Pending' && isWeb(redirectUrl) && <a href={redirectUrl}>{storyWords.pay}</a>}
    </section>
  )
}

const Id = ({ name, text }: { name: string; text: string | undefined }) => (
  <Fact name={name}>{text && <Copyable text={text} what={name} />}</Fact>
)
