// What the forms of the payments view say; a part of the key `payments` of the dictionary.

export const formWords = {
  charge: {
    open: 'Make a test charge',
    lead: 'At a simulated gateway: nobody’s money moves.',
    gateway: 'Gateway',
    amount: 'Amount',
    currency: 'Currency',
    description: 'Description',
    example: 'A lamp',
    submit: 'Charge',
    working: 'Charging…',
    badAmount: (currency: string) => `That is no amount in ${currency}.`,
    leaving: 'Going to the page to pay on…',
    done: 'Charged. Pay it in the bank’s app with this code:',
    doneWithoutPage: 'Charged; the gateway named no page to pay it on.',
    deepLink: 'Open the bank’s app',
    page: 'Open the page to pay on',
    see: 'See its story',
  },

  refund: {
    open: 'Refund…',
    title: (reference: string) => `Refund ${reference}`,
    amount: (currency: string) => `Amount in ${currency}`,
    left: (amount: string) => `${amount} can still be given back.`,
    reason: 'Reason',
    next: 'Go on',
    confirm: (amount: string, gateway: string) =>
      `${gateway} is asked to give ${amount} back to the payer. It cannot be taken back.`,
    submit: (amount: string) => `Give back ${amount}`,
    back: 'Change it',
    working: 'Asking the gateway…',
    badAmount: 'That is no amount that can still be given back.',
    noReason: 'Say why, for whoever reads it later.',
  },
} as const
