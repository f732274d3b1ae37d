/** The body of a webhook as a driver gets it. */
export const webhookBody = (body: string) => ({ bytes: new TextEncoder().encode(body), body })
