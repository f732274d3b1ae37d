// The facts of a payment: ids, times, amounts.

import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import { Fact } from '../../ui/fact.tsx'
import { Time } from '../../ui/time.tsx'
import { words } from '../../words.ts'
import { Copyable, isWeb, Money } from '../elements.tsx'

export function Facts({ transaction }: { transaction: Transaction }) {
  const { story: texts } = words.payments
  const { gateway, attempt, description, createdAt, updatedAt, paidAt, expiresAt } = transaction
  const { status, redirectUrl, metadata, paid } = transaction
  return (
    <section class="facts panel" aria-labelledby="facts">
      <h2 id="facts">{texts.facts}</h2>
      <dl>
        <Fact name={texts.description}>{description}</Fact>
        <Fact name={texts.gateway}>{gateway}</Fact>
        <Id name={texts.id} text={transaction.id} />
        <Id name={texts.gatewayId} text={transaction.gatewayTransactionId} />
        <Id name={texts.externalId} text={transaction.externalReferenceId} />
        <Id name={texts.correlation} text={transaction.correlationId} />
        <Fact name={texts.attempt}>{attempt > 1 && attempt}</Fact>
        <Fact name={texts.created}>
          <Time at={createdAt} />
        </Fact>
        <Fact name={texts.paid}>{paidAt && <Time at={paidAt} />}</Fact>
        <Fact name={texts.paidAmount}>{paid && <Money {...paid} />}</Fact>
        <Fact name={texts.updated}>{updatedAt !== createdAt && <Time at={updatedAt} />}</Fact>
        <Fact name={texts.expires}>
          {status === 'Pending' && expiresAt && <Time at={expiresAt} />}
        </Fact>
        {Object.entries(metadata ?? {}).map(([name, value]) => (
          <Fact key={name} name={name}>
            {String(value)}
          </Fact>
        ))}
      </dl>
      {status === 'Pending' && isWeb(redirectUrl) && <a href={redirectUrl}>{texts.pay}</a>}
    </section>
  )
}

const Id = ({ name, text }: { name: string; text: string | undefined }) => (
  <Fact name={name}>{text && <Copyable text={text} what={name} />}</Fact>
)
