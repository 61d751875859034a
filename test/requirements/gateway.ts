/** The gateway half of the interface, sentence by sentence. */
export const gatewayRequirements = {} as const
