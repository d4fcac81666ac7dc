import { equals, type Tests } from "../testing";
import { replyOf } from "./replies";

const tests: Tests = {
	"a code is said once"() {
		equals(replyOf(250, "250 2.0.0 stored in the mailbox"), "250 2.0.0 stored in the mailbox");
		equals(replyOf(250, "2.0.0 stored"), "250 2.0.0 stored");
		equals(replyOf(550, "5.1.1", "no such user"), "550 5.1.1 no such user");
		equals(replyOf(550, "5.1.1", "550 5.1.1 no such user"), "550 5.1.1 no such user");
		equals(replyOf(550, "5.1.1", "5.1.1 no such user"), "550 5.1.1 no such user");
		equals(replyOf(550, "5.1.1", "550-first line"), "5.1.1 550-first line");
		equals(replyOf(250, null), "250");
		equals(replyOf(null, "greylisted"), "greylisted");
		equals(replyOf(25, "250 ok"), "25 250 ok");
		equals(replyOf(null, undefined, ""), "");
	},
};

export default tests;
