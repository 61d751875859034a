/** The rows of every door, paired with endpoints and examples by `operationId`. */
import { consoleRights } from './console.ts'
import { examples } from './examples.ts'
import { gatewayRights } from './gateway.ts'
import { homeRights } from './home.ts'
import { oauthRights } from './oauth.ts'
import { operationsRights } from './operations.ts'
import type { Rights } from './rights.ts'
import { roomRights } from './rooms.ts'

export const allRights: readonly Rights[] = [
  ...homeRights,
  ...oauthRights,
  ...gatewayRights,
  ...operationsRights,
  ...consoleRights,
  ...roomRights,
]

/** The rows that can be asked: a row without an example fails once, where rows are compared. */
export const askedRights = allRights.filter(({ operationId }) => operationId in examples)
