// What a payment is: its names, which people paste elsewhere, and its times.

import { Fact } from '../../ui/fact.tsx'
import { Time } from '../../ui/time.tsx'
import { words } from '../../words.ts'
import { Copyable, isWeb, Money } from '../elements.tsx'
import type { TransactionStory } from '../feed/reads.ts'

export function Facts({ story }: { story: TransactionStory }) {
  const { story: say } = words.payments
  const { gateway, attempt, description, createdAt, updatedAt, paidAt, expiresAt } = story
  const { status, redirectUrl, metadata, paid } = story
  return (
    <section class="facts panel" aria-labelledby="facts">
      <h2 id="facts">{say.facts}</h2>
      <dl>
        <Fact name={say.description}>{description}</Fact>
        <Fact name={say.gateway}>{gateway}</Fact>
        <Id name={say.id} text={story.id} />
        <Id name={say.gatewayId} text={story.gatewayTransactionId} />
        <Id name={say.externalId} text={story.externalReferenceId} />
        <Id name={say.correlation} text={story.correlationId} />
        <Fact name={say.attempt}>{attempt > 1 && attempt}</Fact>
        <Fact name={say.created}>
          <Time at={createdAt} />
        </Fact>
        <Fact name={say.paid}>{paidAt && <Time at={paidAt} />}</Fact>
        <Fact name={say.paidAmount}>{paid && <Money {...paid} />}</Fact>
        <Fact name={say.updated}>{updatedAt !== createdAt && <Time at={updatedAt} />}</Fact>
        <Fact name={say.expires}>
          {status === 'Pending' && expiresAt && <Time at={expiresAt} />}
        </Fact>
        {Object.entries(metadata ?? {}).map(([name, value]) => (
          <Fact key={name} name={name}>
            {String(value)}
          </Fact>
        ))}
      </dl>
      {status === 'Pending' && isWeb(redirectUrl) && <a href={redirectUrl}>{say.pay}</a>}
    </section>
  )
}

const Id = ({ name, text }: { name: string; text: string | undefined }) => (
  <Fact name={name}>{text && <Copyable text={text} what={name} />}</Fact>
)
