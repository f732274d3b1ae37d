import { paymentsContract } from '../contract/payments.ts'

paymentsContract('node')
paymentsContract('workerd')
