import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { OwnSession } from "../../api/schema";
import { useSignOut } from "../../sync/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { List } from "../../ui/List";
import { Card, NotSet } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { within } from "../../base/queries";
import { sessionsQuery } from "./queries";

const words = catalogue("settings.sessions", {
	title: "Active sessions",
	where: "Device",
	ip: "IP address",
	last: "Last used",
	since: "Signed in",
	here: "this session",
	on: "{browser} on {system}",
	program: "Another program",
	end: "End",
	endName: "End session: {where}",
	others: "End all others",
	alone: "You are not signed in anywhere else.",
	ended: "{count, plural, one {One session has ended.} other {# sessions have ended.}}",
});

const browsers: [RegExp, string][] = [
	[/Edg\//, "Edge"],
	[/OPR\//, "Opera"],
	[/Firefox\//, "Firefox"],
	[/Chrome\//, "Chrome"],
	[/Safari\//, "Safari"],
];
const systems: [RegExp, string][] = [
	[/iPhone|iPad/, "iOS"],
	[/Android/, "Android"],
	[/Windows/, "Windows"],
	[/Mac OS X/, "macOS"],
	[/Linux|X11/, "Linux"],
];

/** agentName names the browser of a user agent. */
function agentName(agent: string | null): string {
	const find = (list: [RegExp, string][]) => list.find(([test]) => test.test(agent ?? ""))?.[1];
	const [browser, system] = [find(browsers), find(systems)];
	return browser && system ? words.on({ browser, system }) : (browser ?? agent?.slice(0, 60) ?? words.program);
}

/** Sessions lists the signed-in person's sessions, and ends them. */
export function Sessions() {
	const client = useQueryClient();
	const signOut = useSignOut();
	const sessions = useQuery(sessionsQuery());
	const end = useMutation({
		mutationFn: async (list: OwnSession[]) => {
			for (const session of list) await api("DELETE /api/auth/sessions/{id}", { path: { id: session.id } });
			return list.length;
		},
		onSuccess: (count) => toast(words.ended({ count })),
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: () => void client.invalidateQueries(within("sessions")),
	});
	const rows = sessions.data?.data ?? [];
	const others = rows.filter((session) => !session.current);
	return (
		<Card
			title={words.title}
			actions={
				<Button
					small
					busy={end.isPending || sessions.isPending}
					disabledReason={sessions.data && others.length === 0 ? words.alone : undefined}
					onClick={() => end.mutate(others)}
				>
					{words.others}
				</Button>
			}
		>
			{sessions.isPending ? (
				<Skeleton rows={3} />
			) : sessions.isError ? (
				<Failure error={sessions.error} retry={() => void sessions.refetch()} />
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(session) => session.id}
					columns={[
						{
							id: "where",
							name: words.where,
							cell: (session) => (
								<>
									<span title={session.user_agent ?? undefined}>{agentName(session.user_agent)}</span>{" "}
									{session.current && <Badge tone="success">{words.here}</Badge>}
								</>
							),
						},
						{ id: "ip", name: words.ip, cell: (session) => session.ip ?? <NotSet /> },
						{ id: "last", name: words.last, cell: (session) => <Time at={session.last_seen_at} /> },
						{ id: "since", name: words.since, cell: (session) => <Time at={session.created_at} /> },
						{
							id: "end",
							name: "",
							end: true,
							cell: (session) => (
								<Button
									small
									aria-label={words.endName({ where: agentName(session.user_agent) })}
									onClick={() => (session.current ? void signOut() : end.mutate([session]))}
								>
									{words.end}
								</Button>
							),
						},
					]}
				/>
			)}
		</Card>
	);
}
