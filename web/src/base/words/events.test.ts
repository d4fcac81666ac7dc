import { equals, holds, type Tests } from "../testing";
import { eventGroups, eventNames, type EventType } from "./events";

const tests: Tests = {
	"each event that can be chosen stands in one group"() {
		const groupedEvents = eventGroups().flatMap((eventGroup) => eventGroup.events);
		equals(new Set(groupedEvents).size, groupedEvents.length, "the number of different events in groups");
		const all = (Object.keys(eventNames) as EventType[]).filter(
			(eventName) => eventName !== "*" && eventName !== "webhook.test",
		);
		equals([...groupedEvents].sort(), [...all].sort(), "the events in groups");
	},
	"no group is empty or without a name, and the events of one share their prefix"() {
		for (const { name, events } of eventGroups()) {
			holds(name !== "" && events.length > 0, `${name} has ${events.length} events`);
			equals(new Set(events.map((event) => event.split(".")[0])).size, 1, `the number of prefixes in ${name}`);
		}
	},
};

export default tests;
