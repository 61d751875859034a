/** For the OpenAI Agents SDK: conversations that are kept in a home. */
export { AgentHomeSession, type AgentHomeSessionOptions } from './session.ts'
