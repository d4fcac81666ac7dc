import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { InvitedMember, Member } from "../../api/schema";
import { useSession, useDisabledReason, useWorkspace } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Radios, Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Callout, Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { roleName } from "../../base/words/roles";
import css from "./Settings.module.css";
import { within } from "../../base/queries";
import { membersQuery } from "./queries";
import { outside, to } from "../../base/paths";

const words = catalogue("settings.members", {
	title: "Members",
	settings: "Settings",
	invite: "Invite member",
	actions: "Actions for {name}",
	name: "Name",
	role: "Role",
	status: "Status",
	last: "Last seen",
	email: "Email",
	send: "Invite",
	close: "Close",
	you: "you",
	invited: "Invitation created",
	link: "Send this link to the person. It is valid for seven days and works once.",
	mailed: "The invitation was sent by email.",
	copy: "Copy link",
	about: {
		viewer: "Can see everything, but change nothing.",
		editor: "Works with contacts, content and broadcasts.",
		admin: "Can also set up sending, members and API keys.",
		owner: "Can do everything, including deleting the workspace.",
	},
	disable: "Disable",
	enable: "Enable",
	remove: "Remove",
	removeTitle: "Remove {name}?",
	removeText: "They can no longer open this workspace. What they created stays.",
	again: "Create new link",
	failed: "The invitation email could not be sent: {reason}",
	copyLink: "Create a link to copy",
	owners: "Only owners of this workspace can change owners. Ask one of them.",
	lastOwner: "The last owner cannot be removed: somebody must be able to do everything.",
});

const allRoles = ["viewer", "editor", "admin", "owner"] as const;

/** rolesFor returns the roles that somebody with a role may give. */
const rolesFor = (role: string | undefined) => allRoles.filter((each) => each !== "owner" || role === "owner");

/** Members lists who works in the workspace. */
export default function Members() {
	const client = useQueryClient();
	const { user } = useSession();
	const inviteDisabledReason = useDisabledReason("POST /users/invite");
	const disabledReason = useDisabledReason("PUT /users/{id}");
	const mine = useWorkspace()?.role;
	const [inviting, setInviting] = useState<Member | "new" | null>(null);
	const [removing, setRemoving] = useState<Member | null>(null);
	const members = useQuery(membersQuery());
	const refresh = () => client.invalidateQueries(within("users"));
	const update = useMutation({
		mutationFn: (variables: { id: string; role?: string; status?: string }) =>
			api("PUT /users/{id}", { path: { id: variables.id }, body: { role: variables.role, status: variables.status } }),
		onSuccess: (member) => {
			void refresh();
			if (member.id === user.id) void client.invalidateQueries(within("session"));
		},
		onError: (error) => {
			toast(explain(error), { tone: "danger" });
			void refresh();
		},
	});
	const remove = useMutation({
		mutationFn: (member: Member) => api("DELETE /users/{id}", { path: { id: member.id } }),
		onSuccess: (_, member) => {
			if (member.id === user.id) return location.assign(outside.workspaces);
			setRemoving(null);
			void refresh();
		},
	});
	const all = members.data?.data ?? [];
	const owners = all.filter((member) => member.role === "owner" && member.status === "active").length;
	const assignableRoles = rolesFor(mine);
	/** Why a member cannot be changed. */
	const disabledReasonOf = (member: Member) =>
		disabledReason ??
		(member.role !== "owner"
			? undefined
			: mine !== "owner"
				? words.owners
				: member.status === "active" && owners === 1
					? words.lastOwner
					: undefined);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.settings, to: to.settings() }]}
			actions={
				<Button kind="create" disabledReason={inviteDisabledReason} onClick={() => setInviting("new")}>
					{words.invite}
				</Button>
			}
		>
			{members.isPending ? (
				<Skeleton rows={4} />
			) : members.isError ? (
				<Failure error={members.error} retry={() => void members.refetch()} />
			) : (
				<List
					label={words.title}
					rows={all}
					rowKey={(member) => member.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (member) => (
								<>
									<b>{member.name || member.email}</b> {member.id === user.id && `(${words.you})`}{" "}
									{member.name !== member.email && <span className={css.muted}>{member.email}</span>}
									{member.invitation_failed && (
										<span className={css.muted}>{words.failed({ reason: member.invitation_failed })}</span>
									)}
								</>
							),
						},
						{
							id: "role",
							name: words.role,
							cell: (member) =>
								disabledReasonOf(member) ? (
									<span title={disabledReasonOf(member)}>{roleName(member.role)}</span>
								) : (
									<Select
										label={`${words.role}: ${member.email}`}
										hideLabel
										value={member.role}
										onChange={(role) => update.mutate({ id: member.id, role })}
										choices={assignableRoles.map((role) => ({ value: role, label: roleName(role) }))}
									/>
								),
						},
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (member) => <StateBadge kind="member" state={member.status} />,
						},
						{ id: "last", name: words.last, cell: (member) => <Time at={member.last_login_at} /> },
						{
							id: "actions",
							name: "",
							end: true,
							cell: (member) => (
								<Menu
									small
									label={words.actions({ name: member.name || member.email })}
									actions={[
										member.status === "invited" && {
											id: "again",
											label: member.invitation_failed ? words.copyLink : words.again,
											disabledReason: disabledReasonOf(member),
											run: () => setInviting(member),
										},
										member.status === "active" && {
											id: "disable",
											label: words.disable,
											disabledReason: disabledReasonOf(member),
											run: () => update.mutate({ id: member.id, status: "disabled" }),
										},
										member.status === "disabled" && {
											id: "enable",
											label: words.enable,
											disabledReason: disabledReasonOf(member),
											run: () => update.mutate({ id: member.id, status: "active" }),
										},
										{
											id: "remove",
											label: words.remove,
											danger: true,
											disabledReason: disabledReasonOf(member),
											run: () => setRemoving(member),
										},
									]}
								/>
							),
						},
					]}
				/>
			)}
			{inviting && (
				<Invite
					member={inviting === "new" ? undefined : inviting}
					roles={assignableRoles}
					onClose={() => {
						setInviting(null);
						void refresh();
					}}
				/>
			)}
			{removing && (
				<Confirm
					title={words.removeTitle({ name: removing.name || removing.email })}
					action={words.remove}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate(removing)}
					onClose={() => setRemoving(null)}
				>
					<p>{words.removeText}</p>
				</Confirm>
			)}
		</Page>
	);
}

/** Invite makes an invitation; one that is made again replaces the former link. */
function Invite({
	member,
	roles,
	onClose,
}: {
	member?: Member;
	roles: (typeof allRoles)[number][];
	onClose: () => void;
}) {
	const [idempotencyKey] = useState(newKey);
	const [created, setCreated] = useState<InvitedMember | null>(null);
	const form = useForm({ email: member?.email ?? "", role: (member?.role ?? "editor") as string });
	const send = () =>
		form.submit(async () =>
			setCreated(
				await api("POST /users/invite", {
					body: { email: form.values.email.trim(), role: form.values.role },
					idempotencyKey,
				}),
			),
		);
	if (created) {
		return (
			<Dialog title={words.invited} onClose={onClose} footer={<Button onClick={onClose}>{words.close}</Button>}>
				{created.accept_url ? (
					<Callout tone="success" title={words.link}>
						<p>
							<code>{created.accept_url}</code>
						</p>
						<Copy text={created.accept_url} subject={words.link}>
							{words.copy}
						</Copy>
					</Callout>
				) : (
					<p>{words.mailed}</p>
				)}
			</Dialog>
		);
	}
	return (
		<Dialog
			title={words.invite}
			onClose={onClose}
			onSubmit={() => void send()}
			submit={{ label: words.send, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.email}
				type="email"
				path="email"
				value={form.values.email}
				onChange={(email) => form.set({ email })}
				error={form.problems.byPath.email}
				autoFocus
				autoComplete="off"
			/>
			<Radios
				label={words.role}
				value={form.values.role}
				onChange={(role) => form.set({ role })}
				choices={roles.map((role) => ({ value: role, label: roleName(role), help: words.about[role] }))}
			/>
		</Dialog>
	);
}
