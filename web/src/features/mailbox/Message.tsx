export { Message as default } from "./Mailbox";
