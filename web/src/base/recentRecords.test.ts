import { addRecent, clearRecent, keptOnDevice, recent } from "./recentRecords";
import { equals, type Tests } from "./testing";

const titles = (workspace: string) => recent(workspace).map((recent) => recent.title);

const tests: Tests = {
	"the last record comes first, and each stands once"() {
		addRecent("a", "/contacts/1", "Ann");
		addRecent("a", "/contacts/2", "Bo");
		addRecent("a", "/contacts/1", "Ann Lee");
		equals(recent("a"), [
			{ to: "/contacts/1", title: "Ann Lee" },
			{ to: "/contacts/2", title: "Bo" },
		]);
		equals(recent("b"), [], "another workspace");
	},
	"a record is the same on all of its pages"() {
		addRecent("pages", "/broadcasts/1/edit", "News");
		addRecent("pages", "/broadcasts/1/report", "News");
		equals(recent("pages"), [{ to: "/broadcasts/1", title: "News" }]);
	},
	"pages that show no record are not kept"() {
		for (const to of ["/", "/contacts", "/contacts/", "/contacts/import", "/segments/new"]) addRecent("none", to, to);
		equals(recent("none"), []);
	},
	"a record that has gone is forgotten"() {
		addRecent("gone", "/contacts/1", "Ann");
		addRecent("gone", "/contacts/2", "Bo");
		addRecent("gone", "/contacts/1", null);
		equals(titles("gone"), ["Bo"]);
	},
	"only the last eight are kept"() {
		for (let round = 1; round <= 10; round++) addRecent("many", `/contacts/${round}`, String(round));
		equals(titles("many"), ["10", "9", "8", "7", "6", "5", "4", "3"]);
	},
	"what may be kept on the device is not about people, and signing out forgets all"() {
		clearRecent();
		for (const to of ["/contacts/1", "/broadcasts/1/recipients/2", "/mailbox/1/2", "/segments/1", "/sending/mta/1"])
			addRecent("kept", to, to);
		equals(
			keptOnDevice().map(([workspace, list]) => [workspace, list.map((one) => one.to)]),
			[["kept", ["/sending/mta/1", "/segments/1"]]],
		);
		for (let n = 0; n < 30; n++) addRecent(`w${n}`, "/segments/1", "One");
		equals(keptOnDevice().length, 20);
		clearRecent();
		equals(recent("kept"), []);
		equals(keptOnDevice(), []);
	},
};

export default tests;
