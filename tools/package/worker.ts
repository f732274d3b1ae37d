// `signalbox/worker`: what a configuration, a driver and a Worker of one's own are written with.
// This is the half that runs anywhere, so that a driver can be tested on Node; `signalbox` itself
// needs Cloudflare's runtime, where worker-workerd.ts takes the place of this file.

export type {
  ChargeRequest,
  PaymentEvents,
  PaymentResponse,
  RaisedAlert,
  RefundRequest,
  RefundResult,
  Transaction,
  VerifiedWebhook,
  WebhookPayload,
} from '../../worker/payments/domain/types.ts'
export type { Listener, Listeners } from '../../worker/payments/outbox/deliver.ts'

import type { SignalboxFile } from '../../worker/payments/define-config.ts'

/** A class of Cloudflare's runtime, which makes its objects. */
export type RuntimeClass = new (ctx: never, env: never) => object

/** What the entry of a Worker exports: the handler as its default, the classes by their names. */
export interface WorkerParts {
  handler: {
    fetch(request: Request, env: object): Response | Promise<Response>
    scheduled(controller: object, env: object): Promise<void>
  }
  RepositoryObject: RuntimeClass
  LedgerObject: RuntimeClass
  SessionsObject: RuntimeClass
  DirectoryObject: RuntimeClass
  Dispatcher: RuntimeClass
}

/** An edge with this configuration. Invalid variables are reported by the first request. */
export const signalbox: (config: SignalboxFile) => WorkerParts = () => {
  throw new Error('signalbox() makes a Worker, and runs only on Cloudflare Workers or workerd.')
}

export {
  defineConfig,
  type GatewayEntry,
  type HostFetch,
  type SignalboxFile,
} from '../../worker/payments/define-config.ts'
export {
  aboutPayment,
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  InvalidWebhookSignatureException,
  PaymentConflictException,
  type PaymentError,
  PaymentsPausedException,
} from '../../worker/payments/domain/exceptions.ts'
export { fromMinor, minorUnits, toMinor } from '../../worker/payments/domain/money.ts'
export type { EventName, PaymentStatus } from '../../worker/payments/domain/status.ts'
export type {
  ChargeBuilder,
  DriverFacade,
  GatewayStatus,
  Middleware,
  PaymentsFacade,
} from '../../worker/payments/facade.ts'
export type {
  AnyGateway,
  ChargeAnswer,
  Driver,
  Gateway,
  GatewayCall,
  GatewayCharge,
  GatewayRefund,
  GatewayReply,
  GatewayRequest,
  IgnoredWebhook,
  RefundAnswer,
  Setting,
  Settings,
  StatusAnswer,
  StoredPayment,
  SupportsAccessToken,
  SupportsCancel,
  SupportsRefund,
  SupportsStatusCheck,
  UnreadableWebhook,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
export {
  isAuthFailure,
  isSuccess,
  parseReply,
  type ReplySchema,
  refusal,
  truncate,
  unexpectedReply,
} from '../../worker/payments/gateways/reply.ts'
